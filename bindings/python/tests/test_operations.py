"""Signing, verifying, encapsulating: what they take, and what they refuse."""

import array
import mmap
import re

import numpy
import pqtls
import pytest
from algorithms import ML_DSA, ML_KEM, SIGNATURES, SLH_DSA, decapsulation_key, signing_key
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize("algorithm", SIGNATURES)
def test_signatures(algorithm):
    key = signing_key(algorithm)
    public = key.verifying_key
    signature = key.sign(b"message")
    # the second is verified by the key as it is prepared
    for _ in range(3):
        assert public.verify(b"message", signature) is None
        with pytest.raises(pqtls.InvalidSignature, match=f"invalid {algorithm} signature"):
            public.verify(b"massage", signature)
    with pytest.raises(pqtls.InvalidSignature):
        public.verify(b"message", signature[:-1])
    assert key.sign(b"message", deterministic=True) == key.sign(b"message", deterministic=True)
    assert key.sign(b"message") != key.sign(b"message")


@pytest.mark.parametrize("algorithm", [name for name in SLH_DSA if name.endswith("s")])
def test_small_signatures(algorithm):
    # A key of zeros, and a signature of zeros of the length in FIPS 205, table 2: to make real ones takes seconds.
    n = int(re.search(r"-(\d+)s$", algorithm)[1]) // 8
    length = {16: 7856, 24: 16224, 32: 29792}[n]
    public = pqtls.VerifyingKey.from_bytes(algorithm, bytes(2 * n))
    assert (public.algorithm, len(public.to_bytes())) == (algorithm, 2 * n)
    for size in (0, length - 1, length, length + 1):
        with pytest.raises(pqtls.InvalidSignature, match=f"invalid {algorithm} signature"):
            public.verify(b"message", bytes(size))
    for size in (2 * n - 1, 2 * n + 1):
        with pytest.raises(pqtls.InvalidKey, match=algorithm):
            pqtls.VerifyingKey.from_bytes(algorithm, bytes(size))


def test_a_small_signature():
    key = pqtls.SigningKey.generate("SLH-DSA-SHA2-128s")
    key.check()
    signature = key.sign(b"message")
    assert len(signature) == 7856
    key.verifying_key.verify(b"message", signature)


@pytest.mark.parametrize("algorithm", ["ML-DSA-65", "SLH-DSA-SHAKE-128f"])
@pytest.mark.parametrize("pre_hash", [None, "SHA-512", "shake256"])
def test_options(algorithm, pre_hash):
    key = signing_key(algorithm)
    public = key.verifying_key
    signature = key.sign(b"message", context=b"backups", pre_hash=pre_hash)
    public.verify(b"message", signature, context=b"backups", pre_hash=pre_hash)
    for context, other in ((b"", pre_hash), (b"backups", "SHA3-512")):
        with pytest.raises(pqtls.InvalidSignature):
            public.verify(b"message", signature, context=context, pre_hash=other)
    with pytest.raises(pqtls.OperationError, match="255 bytes"):
        key.sign(b"message", context=bytes(256))
    with pytest.raises(pqtls.OperationError, match="255 bytes"):
        public.verify(b"message", signature, context=bytes(256))


def test_pre_hashes():
    key = signing_key("ML-DSA-87")
    with pytest.raises(pqtls.OperationError, match="SHA-256"):
        key.sign(b"message", pre_hash="SHA-256")
    with pytest.raises(pqtls.UnknownAlgorithm, match='"MD5" is not a hash function known here; known: SHA-224'):
        key.sign(b"message", pre_hash="MD5")


@pytest.mark.parametrize("algorithm", ML_DSA)
def test_mu_and_pieces(algorithm):
    key = signing_key(algorithm)
    public = key.verifying_key
    hasher = public.hasher(context=b"context")
    hasher.update(b"mess")
    hasher.update(memoryview(b"age"))
    hashed = hasher.finish()
    assert hashed.mu is not None and len(hashed.mu) == 64
    assert hashed == pqtls.HashedMessage.from_mu(hashed.mu)
    for signature in (key.sign_mu(hashed.mu), key.sign_hashed(hashed, deterministic=True)):
        public.verify(b"message", signature, context=b"context")
        public.verify_mu(hashed.mu, signature)
        public.verify_hashed(hashed, signature)
        with pytest.raises(pqtls.InvalidSignature):
            public.verify_mu(bytes(64), signature)
    for use in (lambda: hasher.update(b""), hasher.finish):
        with pytest.raises(pqtls.OperationError, match="finished before"):
            use()
    with pytest.raises(pqtls.OperationError, match="63 bytes instead of 64"):
        key.sign_mu(bytes(63))

    hasher = key.hasher(pre_hash="SHA-512")
    hasher.update(b"message")
    hashed = hasher.finish()
    assert hashed.mu is None
    public.verify(b"message", key.sign_hashed(hashed), pre_hash="SHA-512")


def test_mu_is_of_ml_dsa():
    key = signing_key("SLH-DSA-SHA2-128f")
    with pytest.raises(pqtls.OperationError, match="has no µ"):
        key.sign_mu(bytes(64))
    with pytest.raises(pqtls.OperationError):
        key.verifying_key.verify_mu(bytes(64), b"")
    with pytest.raises(pqtls.OperationError):
        key.hasher()


@pytest.mark.parametrize("algorithm", ML_KEM)
def test_encapsulation(algorithm):
    key = decapsulation_key(algorithm)
    secret, ciphertext = key.encapsulation_key.encapsulate()
    assert len(secret) == 32
    assert key.decapsulate(ciphertext) == secret
    # implicit rejection
    other = bytes([ciphertext[0] ^ 1]) + ciphertext[1:]
    assert key.decapsulate(other) != secret
    assert key.decapsulate(other) == key.decapsulate(other)
    with pytest.raises(pqtls.OperationError, match=f"{algorithm}: .*length"):
        key.decapsulate(ciphertext + b"\0")
    with pytest.raises(pqtls.OperationError, match="31 bytes instead of 32"):
        key.encapsulation_key.encapsulate_with_randomness(bytes(31))
    assert key.encapsulation_key.encapsulate() != (secret, ciphertext)


def test_bytes_like():
    key = signing_key("ML-DSA-44")
    expected = key.sign(b"message", deterministic=True)
    mapped = mmap.mmap(-1, 7)
    mapped.write(b"message")
    every_second = memoryview(b"m e s s a g e")[::2]
    for message in (
        bytearray(b"message"),
        memoryview(b"message"),
        every_second,
        array.array("B", b"message"),
        numpy.frombuffer(b"message", dtype=numpy.uint8),
        mapped,
    ):
        assert key.sign(message, deterministic=True) == expected
        key.verifying_key.verify(message, bytearray(expected))
    with pytest.raises(TypeError, match="a bytes-like object is required, not 'str'"):
        key.sign("message")
    for wrong in (5, None, [1], numpy.zeros(7), object()):
        with pytest.raises(TypeError, match="a bytes-like object is required"):
            key.sign(wrong)


class Bytes(bytes):
    """A subclass, which is read as what it is."""


@given(message=st.binary(max_size=2000), context=st.binary(max_size=255), kind=st.sampled_from([bytes, bytearray, memoryview, Bytes]))
def test_any_message(message, context, kind):
    key = signing_key("ML-DSA-44")
    signature = key.sign(kind(message), context=kind(context))
    key.verifying_key.verify(kind(message), kind(signature), context=kind(context))


@given(place=st.integers(0, 2419), bit=st.integers(0, 7))
def test_flipped_bits(place, bit):
    key = signing_key("ML-DSA-44")
    signature = bytearray(key.sign(b"message", deterministic=True))
    signature[place] ^= 1 << bit
    with pytest.raises(pqtls.InvalidSignature):
        key.verifying_key.verify(b"message", signature)


@given(data=st.binary(max_size=4000), algorithm=st.sampled_from(ML_DSA + ML_KEM))
def test_arbitrary_bytes(data, algorithm):
    signs = algorithm in ML_DSA
    private = pqtls.SigningKey if signs else pqtls.DecapsulationKey
    public = pqtls.VerifyingKey if signs else pqtls.EncapsulationKey
    for read in (
        lambda: private.from_der(data),
        lambda: private.from_pem(data),
        lambda: private.from_expanded(algorithm, data),
        lambda: public.from_der(data),
        lambda: public.from_bytes(algorithm, data),
        lambda: pqtls.Certificate.from_der(data),
        lambda: pqtls.Certificate.from_pem(data),
        lambda: pqtls.CertificateRequest.from_der(data),
        lambda: pqtls.CertificateRevocationList.from_der(data),
    ):
        with pytest.raises(pqtls.Error):
            read()
