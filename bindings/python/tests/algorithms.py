"""The parameter sets, and keys of each that tests share."""

import functools

import pqtls

ML_DSA = [name for name in pqtls.SIGNATURE_ALGORITHMS if name.startswith("ML-DSA-")]
SLH_DSA = [name for name in pqtls.SIGNATURE_ALGORITHMS if name.startswith("SLH-DSA-")]
# The s sets take up to a second for a signature.
SIGNATURES = ML_DSA + [name for name in SLH_DSA if name.endswith("f")]
ML_KEM = list(pqtls.KEM_ALGORITHMS)


@functools.cache
def signing_key(algorithm: pqtls.SignatureAlgorithm) -> pqtls.SigningKey:
    return pqtls.SigningKey.generate(algorithm)


@functools.cache
def decapsulation_key(algorithm: pqtls.KemAlgorithm) -> pqtls.DecapsulationKey:
    return pqtls.DecapsulationKey.generate(algorithm)
