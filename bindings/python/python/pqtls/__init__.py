"""ML-KEM, ML-DSA and SLH-DSA (FIPS 203 to 205), their keys and their certificates.

>>> import pqtls
>>> key = pqtls.SigningKey.generate("ML-DSA-65")
>>> signature = key.sign(b"message")
>>> key.verifying_key.verify(b"message", signature)
"""

from ._errors import (
    CertificateError,
    Error,
    InvalidKey,
    InvalidSignature,
    IssueError,
    OperationError,
    ProtectionError,
    RandomnessError,
    RequestError,
    RevocationListError,
    UnknownAlgorithm,
    ValidationError,
)
from ._pqtls import (
    Certificate,
    CertificateBuilder,
    CertificateRequest,
    CertificateRevocationList,
    CertificateRevocationListBuilder,
    ChainValidator,
    DecapsulationKey,
    EncapsulationKey,
    Finding,
    HashedMessage,
    Issuer,
    MessageHasher,
    RequestBuilder,
    RevokedCertificate,
    SigningKey,
    VerifiedRequest,
    VerifyingKey,
    load_private_key,
    load_public_key,
    verify_many,
)

__all__ = [
    "Certificate",
    "CertificateBuilder",
    "CertificateError",
    "CertificateRequest",
    "CertificateRevocationList",
    "CertificateRevocationListBuilder",
    "ChainValidator",
    "DecapsulationKey",
    "EncapsulationKey",
    "Error",
    "Finding",
    "HashedMessage",
    "InvalidKey",
    "InvalidSignature",
    "IssueError",
    "Issuer",
    "MessageHasher",
    "OperationError",
    "ProtectionError",
    "RandomnessError",
    "RequestBuilder",
    "RequestError",
    "RevocationListError",
    "RevokedCertificate",
    "SigningKey",
    "UnknownAlgorithm",
    "ValidationError",
    "VerifiedRequest",
    "VerifyingKey",
    "load_private_key",
    "load_public_key",
    "verify_many",
]
