"""verify_many."""

import threading

import numpy
import pqtls
import pytest
from algorithms import signing_key

COUNT = 50


@pytest.fixture(scope="module")
def batch():
    key = signing_key("ML-DSA-44")
    messages = [i.to_bytes(2) for i in range(COUNT)]
    signatures = [key.sign(message) for message in messages]
    return key.verifying_key, messages, signatures


@pytest.mark.parametrize("threads", [None, 1, 2, 7])
def test_which_are_valid(batch, threads):
    key, messages, signatures = batch
    expected = [True] * COUNT
    assert pqtls.verify_many(key, messages, signatures, threads=threads) == expected
    messages = list(messages)
    for wrong in (0, 9, COUNT - 1):
        messages[wrong] = b"other"
        expected[wrong] = False
    assert pqtls.verify_many(key, messages, signatures, threads=threads) == expected
    assert pqtls.verify_many([key] * COUNT, tuple(messages), iter(signatures), threads=threads) == expected


@pytest.mark.parametrize("algorithm", ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87", "SLH-DSA-SHA2-128f"])
@pytest.mark.parametrize("pre_hash", [None, "SHA-512"])
def test_one_key(algorithm, pre_hash):
    """Side by side or one by one, the result is what verify says of each."""
    key = signing_key(algorithm)
    public = key.verifying_key
    messages = [bytes(length) for length in (0, 1, 31, 136, 137, 1000, 5000, 7, 8)]
    options = {"context": b"context", "pre_hash": pre_hash}
    signatures = [key.sign(message, **options) for message in messages]
    signatures[1] = signatures[1][:-1]
    signatures[2] = b""
    signatures[3] = bytes(len(signatures[3]))
    signatures[4] = signatures[5]
    signatures[6] = key.sign(messages[6], pre_hash=pre_hash)

    def valid(message, signature):
        try:
            public.verify(message, signature, **options)
        except pqtls.InvalidSignature:
            return False
        return True

    expected = [valid(*pair) for pair in zip(messages, signatures, strict=True)]
    assert expected == [True, False, False, False, False, True, False, True, True]
    for count in range(len(messages) + 1):
        assert pqtls.verify_many(public, messages[:count], signatures[:count], **options) == expected[:count]
    assert pqtls.verify_many(public, messages * 9, signatures * 9, threads=3, **options) == expected * 9


def test_keys_of_many_algorithms():
    keys = [signing_key(name) for name in ("ML-DSA-44", "ML-DSA-87", "SLH-DSA-SHA2-128f")] * 2
    signatures = [key.sign(b"message", context=b"context") for key in keys]
    publics = [key.verifying_key for key in keys]
    assert pqtls.verify_many(publics, [b"message"] * 6, signatures, context=b"context") == [True] * 6
    assert pqtls.verify_many(publics, [b"message"] * 6, signatures) == [False] * 6
    publics[0], publics[1] = publics[1], publics[0]
    found = pqtls.verify_many(publics, [b"message"] * 6, signatures, context=b"context")
    assert found == [False, False, True, True, True, True]


def test_arrays(batch):
    key, messages, signatures = batch
    rows = numpy.frombuffer(b"".join(messages), dtype=numpy.uint8).reshape(COUNT, 2)
    columns = numpy.array([numpy.frombuffer(s, dtype=numpy.uint8) for s in signatures])
    assert pqtls.verify_many(key, rows, columns) == [True] * COUNT
    # not contiguous
    wide = numpy.zeros((COUNT, 4), dtype=numpy.uint8)
    wide[:, ::2] = rows
    assert pqtls.verify_many(key, wide[:, ::2], columns) == [True] * COUNT
    assert pqtls.verify_many(key, wide, columns) == [False] * COUNT
    assert pqtls.verify_many(key, [bytearray(m) for m in messages], [memoryview(s) for s in signatures]) == [True] * COUNT
    assert pqtls.verify_many(key, numpy.zeros((0, 5), numpy.uint8), numpy.zeros((0, 0), numpy.uint8)) == []
    assert pqtls.verify_many(key, numpy.zeros((3, 0), numpy.uint8), numpy.zeros((3, 0), numpy.uint8)) == [False] * 3
    with pytest.raises(TypeError, match="messages has 1 dimensions"):
        pqtls.verify_many(key, b"message", signatures)
    with pytest.raises(TypeError, match="signatures has 3 dimensions"):
        pqtls.verify_many(key, messages, numpy.zeros((1, 1, 1), numpy.uint8))
    with pytest.raises(TypeError):
        pqtls.verify_many(key, rows.astype(numpy.uint16), columns)


def test_refusals(batch):
    key, messages, signatures = batch
    assert pqtls.verify_many(key, [], []) == []
    with pytest.raises(ValueError, match="49 messages and 50 signatures"):
        pqtls.verify_many(key, messages[1:], signatures)
    with pytest.raises(ValueError, match="1 keys and 50 signatures"):
        pqtls.verify_many([key], messages, signatures)
    with pytest.raises(TypeError, match="bytes-like"):
        pqtls.verify_many(key, ["a", "b"], signatures[:2])
    with pytest.raises(TypeError):
        pqtls.verify_many(key.to_bytes(), messages, signatures)
    with pytest.raises(TypeError):
        pqtls.verify_many(5, messages, signatures)
    with pytest.raises(ValueError):
        pqtls.verify_many(key, messages, signatures, threads=0)
    with pytest.raises(pqtls.OperationError, match="255 bytes"):
        pqtls.verify_many(key, messages, signatures, context=bytes(256))

    def failing():
        yield b""
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        pqtls.verify_many(key, failing(), signatures)


def test_what_is_changed_meanwhile(batch):
    """Another thread empties the list and overwrites the buffer; the result is of what was passed."""
    key, messages, signatures = batch
    times = 20
    passed, buffer = list(signatures * times), bytearray(messages[0])
    stop, started, results = threading.Event(), threading.Event(), []

    def disturb():
        while not stop.is_set():
            started.wait(0.0001)
            passed.clear()
            buffer[:] = b"\xff\xff"

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        # at times the list is emptied before it is read
        for _ in range(1000):
            passed[:], buffer[:] = signatures * times, messages[0]
            try:
                results.append(pqtls.verify_many(key, [buffer, *messages[1:]] * times, passed))
            except ValueError as error:
                assert "1000 messages and 0 signatures" in str(error)
            if len(results) == 5:
                break
    finally:
        stop.set()
        thread.join()
    assert len(results) == 5
    for found in results:
        # the buffer is one that may change before it is read
        assert [valid for i, valid in enumerate(found) if i % COUNT] == [True] * (COUNT - 1) * times
