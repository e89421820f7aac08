"""Prints the version of cryptography, and the CPU time of a signature of ML-DSA-65 in nanoseconds."""

import time

import cryptography
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PrivateKey

key = MLDSA65PrivateKey.generate()
messages = [bytes([index]) * 130 for index in range(256)]
for message in messages:
    key.sign(message)
passes = 16
before = time.process_time_ns()
for _ in range(passes):
    for message in messages:
        key.sign(message)
spent = time.process_time_ns() - before
print(cryptography.__version__, spent / (passes * len(messages)))
