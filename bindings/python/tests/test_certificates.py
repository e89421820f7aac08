"""Certificates, requests, revocation lists and chains."""

import copy
import datetime
import hashlib
import ipaddress
import pickle

import pqtls
import pytest
from algorithms import decapsulation_key, signing_key
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DAY = datetime.timedelta(days=1)
NOW = datetime.datetime.now(datetime.UTC)
Builder = pqtls.CertificateBuilder


@pytest.fixture(scope="module")
def root():
    return pqtls.Issuer.self_signed(Builder.ca("Example Root"), pqtls.SigningKey.generate("ML-DSA-87"))


@pytest.fixture(scope="module")
def ca(root):
    return root.issue_ca(Builder.ca("Example CA").path_len(0), pqtls.SigningKey.generate("ML-DSA-65"))


@pytest.fixture(scope="module")
def leaf(ca):
    return ca.issue(Builder.server().dns_name("example.org").ip_address("192.0.2.1"), signing_key("ML-DSA-44"))


def test_what_a_certificate_says(root, ca, leaf):
    begin, end = NOW.replace(microsecond=0) - DAY, NOW.replace(microsecond=0) + DAY
    builder = (
        Builder.end_entity()
        .subject("CN=Someone,O=Example,C=SE")
        .dns_name("*.example.org")
        .ip_address(ipaddress.ip_address("2001:db8::1"))
        .email_address("someone@example.org")
        .uri("https://example.org/")
        .validity(begin, end)
        .serial_number(2**100 + 1)
        .key_usage("digitalSignature", "nonRepudiation")
        .client_auth()
    )
    certificate = ca.issue(builder, signing_key("ML-DSA-44").verifying_key)
    assert certificate.subject == "CN=Someone,O=Example,C=SE"
    assert certificate.issuer == "CN=Example CA" == ca.certificate.subject
    assert certificate.dns_names == ["*.example.org"]
    assert certificate.ip_addresses == [ipaddress.ip_address("2001:db8::1")]
    assert certificate.email_addresses == ["someone@example.org"]
    assert certificate.uris == ["https://example.org/"]
    assert (certificate.not_before, certificate.not_after) == (begin, end)
    assert certificate.not_after.tzinfo is not None
    assert certificate.serial_number == 2**100 + 1
    assert certificate.key_usage == ["digitalSignature", "nonRepudiation"]
    assert certificate.public_key() == signing_key("ML-DSA-44").verifying_key
    assert (certificate.is_ca, certificate.path_len) == (False, None)
    assert (ca.certificate.is_ca, ca.certificate.path_len) == (True, 0)
    assert ca.certificate.key_usage == ["keyCertSign", "cRLSign"]
    assert len(ca.certificate.subject_key_id) == 20
    assert leaf.not_after - leaf.not_before > 89 * DAY
    assert certificate.lint() == []
    assert "Someone" in repr(certificate) and "Example CA" in repr(ca)
    certificate.verify_signature(ca.certificate)
    with pytest.raises(pqtls.InvalidSignature, match="the signature claims algorithm"):
        certificate.verify_signature(root.certificate)


def test_fingerprints(leaf):
    for name in ("SHA-256", "SHA-384", "SHA-512", "SHA3-256"):
        expected = hashlib.new(name.replace("SHA-", "sha").replace("SHA3-", "sha3_"), leaf.to_der()).digest()
        assert leaf.fingerprint(name) == leaf.fingerprint(algorithm=name.lower()) == expected
    assert leaf.fingerprint() == leaf.fingerprint("SHA-256")
    with pytest.raises(pqtls.UnknownAlgorithm, match="hash function known here; known: SHA-224, SHA-256"):
        leaf.fingerprint("MD5")


def test_extensions(ca, leaf):
    foreign = [x509.load_der_x509_certificate(one.to_der()).extensions for one in (ca.certificate, leaf)]
    for certificate, expected in zip((ca.certificate, leaf), foreign, strict=True):
        found = [(one.oid, one.critical, one.value) for one in certificate.extensions]
        assert found == [(one.oid.dotted_string, one.critical, one.value.public_bytes()) for one in expected]
        assert len(found) >= 3
    assert leaf.extended_key_usage == ["serverAuth"]
    assert ca.certificate.extended_key_usage is None
    one, other = leaf.extensions[:2]
    assert one == leaf.extensions[0] != other and hash(one) == hash(leaf.extensions[0])
    assert "2.5.29." in repr(one)


def test_extensions_that_nobody_knows(leaf):
    """An extension and a purpose without a name here, with the largest numbers, in a certificate of another CA's."""
    largest, purpose = 2**32 - 1, "1.3.6.1.4.1.99999.7"
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Someone")])
    usage = x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.CLIENT_AUTH, x509.ObjectIdentifier(purpose)])
    builder = x509.CertificateBuilder(name, name, private.public_key(), 5, NOW, NOW + DAY)
    builder = builder.add_extension(usage, critical=True)
    builder = builder.add_extension(x509.UnrecognizedExtension(x509.ObjectIdentifier(f"2.25.{largest}"), b"x"), critical=False)
    der = builder.sign(private, hashes.SHA256()).public_bytes(serialization.Encoding.DER)
    certificate = pqtls.Certificate.from_der(der)
    assert certificate.extended_key_usage == ["clientAuth", purpose]
    assert [(one.oid, one.critical) for one in certificate.extensions] == [("2.5.29.37", True), (f"2.25.{largest}", False)]


def test_keys_of_other_kinds(ca, root):
    certificate = ca.issue(Builder.end_entity().dns_name("example.org"), decapsulation_key("ML-KEM-768"))
    assert certificate.public_key() == decapsulation_key("ML-KEM-768").encapsulation_key
    assert certificate.key_usage == ["keyEncipherment"]
    validator = pqtls.ChainValidator([root.certificate])
    chain = [certificate, ca.certificate]
    assert len(validator.validate(chain, "server_auth", "example.org")) == 3
    with pytest.raises(pqtls.ValidationError):
        validator.validate_server(chain, "example.org")
    again = ca.issue(Builder.end_entity().dns_name("example.org"), certificate)
    assert again.public_key() == certificate.public_key()
    with pytest.raises(TypeError, match="not 'int'"):
        ca.issue(Builder.client(), 5)
    with pytest.raises(pqtls.IssueError):
        ca.issue(Builder.client().common_name("x"), b"no key")


def test_documents(ca, leaf, tmp_path):
    chain = leaf.to_pem() + ca.certificate.to_pem()
    assert pqtls.Certificate.chain_from_pem(chain) == [leaf, ca.certificate]
    assert pqtls.Certificate.from_pem(chain.encode()) == leaf
    path = tmp_path / "chain.pem"
    path.write_text(chain)
    assert pqtls.Certificate.load_chain(path) == [leaf, ca.certificate]
    assert pqtls.Certificate.load(path) == leaf
    path.write_bytes(leaf.to_der())
    assert pqtls.Certificate.load_chain(path) == [leaf]
    assert pqtls.Certificate.from_der(memoryview(leaf.to_der())) == leaf != ca.certificate
    assert {leaf, pqtls.Certificate.from_pem(chain)} == {leaf}
    assert pickle.loads(pickle.dumps(leaf)) == copy.deepcopy(leaf) == leaf
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(ca)
    with pytest.raises(pqtls.CertificateError, match="not valid DER"):
        pqtls.Certificate.from_der(leaf.to_der() + b"\0")
    altered = bytearray(leaf.to_der())
    altered[-1] ^= 1
    with pytest.raises(pqtls.InvalidSignature):
        pqtls.Certificate.from_der(altered).verify_signature(ca.certificate)


def test_issuers(root, ca, leaf):
    key = pqtls.SigningKey.generate("ML-DSA-44")
    issuer = pqtls.Issuer(root.issue(Builder.ca("Another"), key), key)
    assert issuer.issue(Builder.client().common_name("x"), key).issuer == "CN=Another"
    for wrong in (
        lambda: pqtls.Issuer(leaf, signing_key("ML-DSA-44")),
        lambda: pqtls.Issuer(root.certificate, key),
        lambda: ca.issue_ca(Builder.ca("Below"), key),
        lambda: ca.issue_ca(Builder.client(), key),
        lambda: pqtls.Issuer.self_signed(Builder.server(), key),
        lambda: ca.issue(Builder.server(), key),
        lambda: ca.issue(Builder.server().dns_name("not a name"), key),
        lambda: ca.issue(Builder.client().common_name("x").key_usage("keyEncipherment"), key),
        lambda: ca.issue(Builder.client().common_name("x").serial_number(0), key),
        lambda: ca.issue(Builder.client().common_name("x").serial_number(2**200), key),
        lambda: ca.issue(Builder.client().common_name("x").validity(NOW, NOW - DAY), key),
        lambda: ca.issue(Builder.server().dns_name("*.localhost"), key),
        lambda: ca.issue(Builder.client().subject("C=DEU"), key),
        lambda: ca.issue(Builder.client().subject("O=" + "x" * 65), key),
        lambda: ca.issue(Builder.client().common_name("abc\u202egnp"), key),
        lambda: ca.issue(Builder.client().subject(",".join(["CN=a"] * 100_000)), key),
        lambda: pqtls.Issuer.self_signed(Builder.ca("x").subject("C=DEU"), key),
        lambda: Builder.server().path_len(1),
        lambda: Builder.ca("x").dns_name("example.org"),
        lambda: Builder.server().subject("no name"),
    ):
        with pytest.raises(pqtls.IssueError):
            wrong()
    with pytest.raises(ValueError, match="negative"):
        Builder.client().serial_number(-1)
    with pytest.raises(pqtls.UnknownAlgorithm, match="known: digitalSignature"):
        Builder.client().key_usage("sign")
    with pytest.raises(TypeError):
        Builder.client().validity(NOW.replace(tzinfo=None), NOW)
    with pytest.raises(OverflowError):
        Builder.ca("x").path_len(256)


def test_builders_stay_what_they_are(ca):
    builder = Builder.server()
    first, second = builder.dns_name("a.example"), builder.dns_name("b.example")
    key = signing_key("ML-DSA-44")
    assert ca.issue(first, key).dns_names == ["a.example"]
    assert ca.issue(second, key).dns_names == ["b.example"]


def test_chains(root, ca, leaf):
    validator = pqtls.ChainValidator([root.certificate])
    path = [leaf, ca.certificate, root.certificate]
    assert validator.validate_server([leaf, ca.certificate], "example.org") == path
    assert validator.validate_server(path, "192.0.2.1", NOW + DAY) == path
    assert validator.validate_server(tuple(path), "example.org", time=NOW.astimezone()) == path
    client = ca.issue(Builder.client().email_address("a@example.org").uri("urn:a:b"), signing_key("ML-DSA-44"))
    assert validator.validate_client([client, ca.certificate])[0] == client
    assert validator.validate_email([client, ca.certificate], "a@EXAMPLE.org", "client_auth")[0] == client
    assert validator.validate_uri([client, ca.certificate], "urn:a:b")[0] == client
    for wrong, words in (
        (lambda: validator.validate_server([leaf, ca.certificate], "example.net"), "example.net"),
        (lambda: validator.validate_server([leaf], "example.org"), "no path from the certificate to a trusted root"),
        (lambda: validator.validate_server([], "example.org"), "the chain is empty"),
        (lambda: validator.validate_server(path, "example.org", NOW + 91 * DAY), "expired"),
        (lambda: validator.validate_server(path, "example.org", NOW - DAY), "not valid before|not yet valid"),
        (lambda: validator.validate_client(path), "client"),
        (lambda: validator.validate_email([client, ca.certificate], "b@example.org", "client_auth"), "b@example.org"),
        (lambda: pqtls.ChainValidator([]), "no roots"),
        (lambda: pqtls.ChainValidator([leaf]), "not a CA"),
    ):
        with pytest.raises(pqtls.ValidationError, match=words):
            wrong()
    with pytest.raises(ValueError, match="neither a DNS name nor an IP address"):
        validator.validate_server(path, "not a name")
    with pytest.raises(ValueError, match="1970"):
        validator.validate_server(path, "example.org", datetime.datetime(1969, 1, 1, tzinfo=datetime.UTC))
    with pytest.raises(TypeError):
        validator.validate_server([leaf.to_der()], "example.org")
    with pytest.raises(TypeError):
        validator.validate_server(leaf, "example.org")


def test_name_constraints(root):
    builder = (
        Builder.ca("Constrained")
        .permit_dns("example.org")
        .exclude_dns("secret.example.org")
        .permit_ip("192.0.2.0/24")
        .exclude_ip(ipaddress.ip_network("192.0.2.128/25"))
        .permit_email("example.org")
        .exclude_email("root@example.org")
        .permit_uri("example.org")
        .exclude_uri("www.example.org")
    )
    key = pqtls.SigningKey.generate("ML-DSA-44")
    ca = root.issue_ca(builder, key)
    validator = pqtls.ChainValidator([root.certificate])
    for name, good in (("a.example.org", True), ("secret.example.org", False), ("example.net", False)):
        leaf = ca.issue(Builder.server().dns_name(name), key)
        if good:
            validator.validate_server([leaf, ca.certificate], name)
        else:
            with pytest.raises(pqtls.ValidationError, match="name constraints"):
                validator.validate_server([leaf, ca.certificate], name)
    with pytest.raises(ValueError, match="is not a network"):
        builder.permit_ip("192.0.2.1")


def test_requests(ca, tmp_path):
    key = pqtls.SigningKey.generate("ML-DSA-65")
    for wrong in (
        pqtls.RequestBuilder().dns_name("*.localhost"),
        pqtls.RequestBuilder().subject("C=DEU"),
        pqtls.RequestBuilder().common_name("abc\u202egnp"),
    ):
        with pytest.raises(pqtls.RequestError):
            wrong.sign(key)
    builder = pqtls.RequestBuilder().common_name("Someone").dns_name("example.org").ip_address("192.0.2.1")
    request = builder.email_address("a@example.org").uri("urn:a:b").sign(key)
    path = tmp_path / "request.pem"
    path.write_text(request.to_pem())
    assert pqtls.CertificateRequest.load(path) == pqtls.CertificateRequest.from_der(request.to_der()) == request
    verified = request.verify()
    assert verified.subject == "CN=Someone"
    assert verified.dns_names == ["example.org"]
    assert verified.ip_addresses == [ipaddress.ip_address("192.0.2.1")]
    assert verified.email_addresses == ["a@example.org"] and verified.uris == ["urn:a:b"]
    assert verified.public_key() == key.verifying_key
    certificate = ca.issue(verified.certificate().server_auth(), verified)
    assert certificate.dns_names == ["example.org"] and certificate.subject == "CN=Someone"
    assert certificate.public_key() == key.verifying_key
    altered = bytearray(request.to_der())
    altered[-1] ^= 1
    with pytest.raises(pqtls.RequestError, match="no proof of possession"):
        pqtls.CertificateRequest.from_der(altered).verify()
    with pytest.raises(TypeError):
        ca.issue(Builder.server(), request)


def test_revocation(root, ca, leaf):
    key = signing_key("ML-DSA-44")
    other = ca.issue(Builder.server().dns_name("example.net"), key)
    since = NOW.replace(microsecond=0) - DAY
    builder = pqtls.CertificateRevocationListBuilder(7).revoke(leaf.serial_number, since, "keyCompromise")
    revoked = ca.issue_revocation_list(builder)
    again = pqtls.CertificateRevocationList.from_pem(revoked.to_pem())
    assert again == revoked and pqtls.CertificateRevocationList.all_from_pem(revoked.to_pem() * 2) == [revoked] * 2
    assert (again.number, again.issuer, len(again)) == (7, "CN=Example CA", 1)
    assert again.next_update - again.this_update > 6 * DAY
    entry = again.entry_for(leaf)
    assert entry == again.entries[0]
    assert (entry.serial_number, entry.date, entry.reason) == (leaf.serial_number, since, "keyCompromise")
    assert again.entry_for(other) is None
    again.verify_signature(ca.certificate)
    with pytest.raises(pqtls.InvalidSignature):
        again.verify_signature(root.certificate)

    validator = pqtls.ChainValidator([root.certificate], revocation_lists=[revoked], end_entity_only=True)
    validator.validate_server([other, ca.certificate], "example.net")
    with pytest.raises(pqtls.ValidationError, match="revoked"):
        validator.validate_server([leaf, ca.certificate], "example.org")
    strict = pqtls.ChainValidator([root.certificate], revocation_lists=[revoked])
    with pytest.raises(pqtls.ValidationError):
        strict.validate_server([other, ca.certificate], "example.net")
    lenient = pqtls.ChainValidator([root.certificate], revocation_lists=[revoked], allow_unknown_status=True)
    lenient.validate_server([other, ca.certificate], "example.net")
    expired = ca.issue_revocation_list(pqtls.CertificateRevocationListBuilder(8).validity(NOW - 2 * DAY, NOW - DAY))
    for allowed in (False, True):
        validator = pqtls.ChainValidator(
            [root.certificate], revocation_lists=[expired], end_entity_only=True, allow_expired_lists=allowed
        )
        if allowed:
            validator.validate_server([other, ca.certificate], "example.net")
        else:
            with pytest.raises(pqtls.ValidationError):
                validator.validate_server([other, ca.certificate], "example.net")
    with pytest.raises(pqtls.ValidationError, match="no revocation lists"):
        pqtls.ChainValidator([root.certificate], revocation_lists=[])
    with pytest.raises(ValueError, match="give revocation_lists"):
        pqtls.ChainValidator([root.certificate], end_entity_only=True)
    with pytest.raises(pqtls.IssueError, match="revoked twice"):
        ca.issue_revocation_list(builder.revoke(leaf.serial_number))
    with pytest.raises(pqtls.UnknownAlgorithm, match="known: unspecified"):
        builder.revoke(1, reason="because")
    with pytest.raises(pqtls.RevocationListError):
        pqtls.CertificateRevocationList.from_der(leaf.to_der())


def test_findings(ca):
    key = signing_key("ML-DSA-44")
    certificate = ca.issue(Builder.server().dns_name("example.org").days(4000), key)
    findings = certificate.lint()
    assert findings, "a certificate that outlives its purpose is worth a notice"
    for finding in findings:
        assert finding.severity in ("error", "warning", "notice")
        assert finding.rule and finding.section and finding.what in repr(finding)
