"""The names of algorithms and hash functions, as types and as tuples."""

from typing import Final, Literal, TypeAlias, get_args

SignatureAlgorithm: TypeAlias = Literal[
    "ML-DSA-44",
    "ML-DSA-65",
    "ML-DSA-87",
    "SLH-DSA-SHA2-128s",
    "SLH-DSA-SHA2-128f",
    "SLH-DSA-SHA2-192s",
    "SLH-DSA-SHA2-192f",
    "SLH-DSA-SHA2-256s",
    "SLH-DSA-SHA2-256f",
    "SLH-DSA-SHAKE-128s",
    "SLH-DSA-SHAKE-128f",
    "SLH-DSA-SHAKE-192s",
    "SLH-DSA-SHAKE-192f",
    "SLH-DSA-SHAKE-256s",
    "SLH-DSA-SHAKE-256f",
]
SIGNATURE_ALGORITHMS: Final[tuple[SignatureAlgorithm, ...]] = get_args(SignatureAlgorithm)

KemAlgorithm: TypeAlias = Literal["ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"]
KEM_ALGORITHMS: Final[tuple[KemAlgorithm, ...]] = get_args(KemAlgorithm)

PreHash: TypeAlias = Literal[
    "SHA-224",
    "SHA-256",
    "SHA-384",
    "SHA-512",
    "SHA-512/224",
    "SHA-512/256",
    "SHA3-224",
    "SHA3-256",
    "SHA3-384",
    "SHA3-512",
    "SHAKE128",
    "SHAKE256",
]
PRE_HASHES: Final[tuple[PreHash, ...]] = get_args(PreHash)
