"""The parameter sets, and keys of each that tests share."""

import functools

import pqtls

ML_DSA = ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"]
SLH_DSA = [
    f"SLH-DSA-{family}-{size}{speed}"
    for family in ("SHA2", "SHAKE")
    for size in (128, 192, 256)
    for speed in "fs"
]
# The s sets take up to a second for a signature.
SIGNATURES = ML_DSA + [name for name in SLH_DSA if name.endswith("f")]
ML_KEM = ["ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"]


@functools.cache
def signing_key(algorithm: str) -> pqtls.SigningKey:
    return pqtls.SigningKey.generate(algorithm)  # type: ignore[arg-type]


@functools.cache
def decapsulation_key(algorithm: str) -> pqtls.DecapsulationKey:
    return pqtls.DecapsulationKey.generate(algorithm)  # type: ignore[arg-type]
