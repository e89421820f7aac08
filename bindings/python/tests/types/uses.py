"""What type checkers must take, and must not. It is not run."""

from pathlib import Path
from typing import assert_type

import pqtls

key = pqtls.SigningKey.generate("ML-DSA-65")
assert_type(key.sign(bytearray(b"message"), context=b"", pre_hash="SHA-512"), bytes)
assert_type(key.verifying_key, pqtls.VerifyingKey)
assert_type(pqtls.load_private_key(Path("key")), pqtls.SigningKey | pqtls.DecapsulationKey)
assert_type(pqtls.verify_many(key.verifying_key, [b""], [memoryview(b"")]), list[bool])
assert_type(pqtls.DecapsulationKey.load("key", "secret").encapsulation_key.encapsulate(), tuple[bytes, bytes])
assert_type(pqtls.CertificateBuilder.ca("Root").path_len(0).days(5), pqtls.CertificateBuilder)

certificate = pqtls.Certificate.load("certificate")
assert_type(certificate.fingerprint("SHA-512"), bytes)
assert_type([(one.oid, one.critical, one.value) for one in certificate.extensions], list[tuple[str, bool, bytes]])
assert_type(certificate.extended_key_usage, list[str] | None)

algorithms: dict[pqtls.SignatureAlgorithm | pqtls.KemAlgorithm, str] = {"ML-DSA-65": "", "ML-KEM-768": ""}
pre_hash: pqtls.PreHash = "SHA-512"
key.sign(b"message", pre_hash=pre_hash)
for signs in pqtls.SIGNATURE_ALGORITHMS:
    pqtls.SigningKey.generate(signs)
for decapsulates in pqtls.KEM_ALGORITHMS:
    pqtls.DecapsulationKey.generate(decapsulates)
assert_type(pqtls.PRE_HASHES, tuple[pqtls.PreHash, ...])
assert_type(key.algorithm, pqtls.SignatureAlgorithm)
assert_type(pqtls.__version__, str)

key.sign("message")  # type: ignore[arg-type]
key.sign(b"message", b"context")  # type: ignore[call-arg]
pqtls.SigningKey.generate("ML-KEM-768")  # type: ignore[arg-type]
key.verifying_key.verify(b"message", b"signature", pre_hash="MD5")  # type: ignore[arg-type]
certificate.fingerprint("MD5")  # type: ignore[arg-type]
pqtls.ChainValidator([b"der"])  # type: ignore[list-item]
unknown: pqtls.SignatureAlgorithm = "ML-DSA-66"  # type: ignore[assignment]
pqtls.SIGNATURE_ALGORITHMS = ()  # type: ignore[misc]
