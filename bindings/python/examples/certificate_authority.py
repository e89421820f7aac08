"""A CA that takes a request, issues a certificate, revokes it, and a client that notices."""

import pqtls
from pqtls import CertificateBuilder, CertificateRevocationListBuilder, ChainValidator, Issuer, RequestBuilder

root = Issuer.self_signed(CertificateBuilder.ca("Example Root"), pqtls.SigningKey.generate("SLH-DSA-SHA2-128f"))
ca = root.issue_ca(CertificateBuilder.ca("Example CA").path_len(0), pqtls.SigningKey.generate("ML-DSA-65"))

# The server keeps its key, and sends a request.
key = pqtls.SigningKey.generate("ML-DSA-65")
request = RequestBuilder().dns_name("www.example.org").sign(key).to_pem()

# The CA has to find out by itself whose name this is.
verified = pqtls.CertificateRequest.from_pem(request).verify()
leaf = ca.issue(verified.certificate().server_auth().days(90), verified)
chain = [leaf, ca.certificate]

path = ChainValidator([root.certificate]).validate_server(chain, "www.example.org")
print("valid:", " < ".join(certificate.subject or "(no name)" for certificate in path))

builder = CertificateRevocationListBuilder(1).revoke(leaf.serial_number, reason="keyCompromise")
revoked = ca.issue_revocation_list(builder)
validator = ChainValidator([root.certificate], revocation_lists=[revoked], end_entity_only=True)
try:
    validator.validate_server(chain, "www.example.org")
except pqtls.ValidationError as refused:
    print("refused:", refused)
else:
    raise SystemExit("a revoked certificate was accepted")
