"""Beside pyca's cryptography, both ways."""

import datetime

import pqtls
import pytest
from algorithms import ML_DSA, signing_key
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, mldsa, mlkem

PRIVATE = {
    "ML-DSA-44": mldsa.MLDSA44PrivateKey,
    "ML-DSA-65": mldsa.MLDSA65PrivateKey,
    "ML-DSA-87": mldsa.MLDSA87PrivateKey,
    "ML-KEM-768": mlkem.MLKEM768PrivateKey,
    "ML-KEM-1024": mlkem.MLKEM1024PrivateKey,
}
PKCS8 = (serialization.Encoding.DER, serialization.PrivateFormat.PKCS8)
SPKI = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.parametrize("algorithm", ML_DSA)
def test_signatures(algorithm):
    theirs = PRIVATE[algorithm].generate()
    ours = pqtls.SigningKey.from_der(theirs.private_bytes(*PKCS8, serialization.NoEncryption()))
    assert ours.to_seed() == theirs.private_bytes_raw()
    assert ours.verifying_key.to_bytes() == theirs.public_key().public_bytes_raw()
    for context in (b"", b"context"):
        ours.verifying_key.verify(b"message", theirs.sign(b"message", context), context=context)
        signature = ours.sign(b"message", context=context)
        theirs.public_key().verify(signature, b"message", context)
        with pytest.raises(InvalidSignature):
            theirs.public_key().verify(signature, b"massage", context)
    mu = bytes(range(64))
    ours.verifying_key.verify_mu(mu, theirs.sign_mu(mu))
    theirs.public_key().verify_mu(ours.sign_mu(mu), mu)


@pytest.mark.parametrize("algorithm", ["ML-KEM-768", "ML-KEM-1024"])
def test_secrets(algorithm):
    theirs = PRIVATE[algorithm].generate()
    ours = pqtls.DecapsulationKey.from_der(theirs.private_bytes(*PKCS8, serialization.NoEncryption()))
    assert ours.to_seed() == theirs.private_bytes_raw()
    secret, ciphertext = theirs.public_key().encapsulate()
    assert ours.decapsulate(ciphertext) == secret
    secret, ciphertext = ours.encapsulation_key.encapsulate()
    assert theirs.decapsulate(ciphertext) == secret


@pytest.mark.parametrize("algorithm", PRIVATE)
@pytest.mark.parametrize("passphrase", [None, b"passphrase"])
def test_files(algorithm, passphrase):
    kind, public = (
        (pqtls.DecapsulationKey, pqtls.EncapsulationKey)
        if algorithm.startswith("ML-KEM")
        else (pqtls.SigningKey, pqtls.VerifyingKey)
    )
    ours = kind.generate(algorithm)
    theirs = serialization.load_pem_private_key(ours.to_pem(passphrase=passphrase).encode(), passphrase)
    assert isinstance(theirs, PRIVATE[algorithm])
    assert theirs.private_bytes_raw() == ours.to_seed()
    protection = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
    assert kind.from_der(theirs.private_bytes(*PKCS8, protection), passphrase) == ours
    half = theirs.public_key().public_bytes(*SPKI)
    half_of_ours = ours.encapsulation_key if kind is pqtls.DecapsulationKey else ours.verifying_key
    assert public.from_pem(half) == half_of_ours
    assert half_of_ours.to_pem().encode() == half


def test_certificates():
    key = signing_key("ML-DSA-65")
    issuer = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("Example Root"), key)
    theirs = x509.load_der_x509_certificate(issuer.certificate.to_der())
    theirs.verify_directly_issued_by(theirs)
    assert theirs.serial_number == issuer.certificate.serial_number
    assert theirs.not_valid_after_utc == issuer.certificate.not_after
    assert theirs.subject.rfc4514_string() == issuer.certificate.subject

    # a request of theirs, and a certificate that they issue
    private = mldsa.MLDSA44PrivateKey.generate()
    names = x509.SubjectAlternativeName([x509.DNSName("example.org")])
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Someone")])
    request = x509.CertificateSigningRequestBuilder().subject_name(name).add_extension(names, False)
    request = request.sign(private, None)
    read = pqtls.CertificateRequest.from_der(request.public_bytes(serialization.Encoding.DER)).verify()
    assert (read.dns_names, read.subject) == (["example.org"], "CN=Someone")
    leaf = issuer.issue(read.certificate().server_auth(), read)
    x509.load_pem_x509_certificate(leaf.to_pem().encode()).verify_directly_issued_by(theirs)

    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(5)
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(1))
    )
    made = builder.sign(private, None).public_bytes(serialization.Encoding.DER)
    certificate = pqtls.Certificate.from_der(made)
    certificate.verify_signature(certificate)
    assert certificate.serial_number == 5

    # our request and our list, read by them
    ours = pqtls.RequestBuilder().dns_name("example.org").sign(key)
    assert x509.load_der_x509_csr(ours.to_der()).is_signature_valid
    revoked = issuer.issue_revocation_list(pqtls.CertificateRevocationListBuilder(2).revoke(5))
    read = x509.load_pem_x509_crl(revoked.to_pem().encode())
    assert read.is_signature_valid(theirs.public_key())
    assert read.get_revoked_certificate_by_serial_number(5) is not None


def test_a_classical_key_in_a_certificate():
    issuer = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("Example Root"), signing_key("ML-DSA-44"))
    private = ec.generate_private_key(ec.SECP256R1())
    spki = private.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    certificate = issuer.issue(pqtls.CertificateBuilder.server().dns_name("example.org"), spki)
    read = x509.load_der_x509_certificate(certificate.to_der())
    assert read.public_key() == private.public_key()
    with pytest.raises(pqtls.InvalidKey, match="1.2.840.10045.2.1"):
        certificate.public_key()
