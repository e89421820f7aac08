"""Keys: every format, comparison, files, and what becomes of them in Python."""

import copy
import os
import pathlib
import pickle
import stat

import pqtls
import pytest
from algorithms import ML_DSA, ML_KEM, SIGNATURES, decapsulation_key, signing_key


def private(algorithm):
    return decapsulation_key(algorithm) if algorithm in ML_KEM else signing_key(algorithm)


def public(key):
    return key.encapsulation_key if isinstance(key, pqtls.DecapsulationKey) else key.verifying_key


@pytest.mark.parametrize("algorithm", SIGNATURES + ML_KEM)
def test_formats(algorithm):
    key = private(algorithm)
    kind = type(key)
    assert key.algorithm == algorithm
    forms = ["expanded"] if algorithm.startswith("SLH") else ["seed", "expanded", "both"]
    for form in [None, *forms]:
        for text in (key.to_pem(form=form), key.to_pem(form=form).encode()):
            assert kind.from_pem(text) == key
        assert kind.from_der(key.to_der(form=form)) == key
    assert kind.from_expanded(algorithm, key.to_expanded()) == key
    seed = key.to_seed()
    if seed is not None:
        assert kind.from_seed(algorithm, bytearray(seed)) == key
    with pytest.raises(pqtls.InvalidKey, match=f"malformed {algorithm} key"):
        kind.from_seed(algorithm, b"short")
    without_seed = kind.from_der(key.to_der(form="expanded"))
    if not algorithm.startswith("SLH"):
        assert without_seed.to_seed() is None
        with pytest.raises(pqtls.OperationError):
            without_seed.to_pem()
    else:
        with pytest.raises(pqtls.OperationError):
            key.to_pem(form="seed")

    half = public(key)
    kind = type(half)
    assert half.algorithm == algorithm
    assert kind.from_pem(half.to_pem()) == kind.from_der(half.to_der()) == half
    assert kind.from_bytes(algorithm, half.to_bytes()) == half
    assert bytes(half) == half.to_bytes()
    with pytest.raises(pqtls.InvalidKey):
        kind.from_bytes(algorithm, half.to_bytes()[:-1])


@pytest.mark.parametrize("algorithm", ["ML-DSA-44", "ML-KEM-512", "SLH-DSA-SHA2-128f"])
@pytest.mark.parametrize("passphrase", ["pässword", b"\xff\0"])
def test_passphrases(algorithm, passphrase, tmp_path):
    key = private(algorithm)
    kind = type(key)
    text = key.to_pem(passphrase=passphrase)
    assert "ENCRYPTED PRIVATE KEY" in text
    assert kind.from_pem(text, passphrase) == key
    assert kind.from_der(key.to_der(passphrase=passphrase), passphrase) == key
    with pytest.raises(pqtls.ProtectionError, match="wrong passphrase"):
        kind.from_pem(text, "another")
    with pytest.raises(pqtls.ProtectionError, match="empty passphrase"):
        key.to_pem(passphrase="")
    # without a passphrase
    written = {"key.pem": text.encode(), "key.der": key.to_der(passphrase=passphrase)}
    for name, contents in written.items():
        path = tmp_path / name
        path.write_bytes(contents)
        read = kind.from_pem if name == "key.pem" else kind.from_der
        for reading in (lambda: read(contents), lambda: kind.load(path), lambda: pqtls.load_private_key(path)):
            with pytest.raises(pqtls.ProtectionError, match="the private key is encrypted: pass `passphrase`"):
                reading()
        assert pqtls.load_private_key(path, passphrase=passphrase) == key


def test_files(tmp_path):
    for algorithm in ("ML-DSA-44", "ML-KEM-768"):
        key = private(algorithm)
        path = tmp_path / algorithm
        key.save(path)
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        with pytest.raises(FileExistsError) as refused:
            key.save(path)
        assert refused.value.filename == str(path)
        os.chmod(path, 0o644)
        key.save(str(path), passphrase="secret", overwrite=True)
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert type(key).load(path, "secret") == pqtls.load_private_key(path, "secret") == key
        half = public(key)
        half.save(path.with_suffix(".pub"))
        assert type(half).load(path.with_suffix(".pub")) == pqtls.load_public_key(path.with_suffix(".pub")) == half
        der = path.with_suffix(".der")
        der.write_bytes(key.to_der())
        assert pqtls.load_private_key(der) == key
    with pytest.raises(FileNotFoundError) as missing:
        pqtls.SigningKey.load(tmp_path / "missing")
    assert missing.value.filename == str(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        pqtls.load_public_key(tmp_path)
    with pytest.raises(TypeError):
        pqtls.load_public_key(5)


def test_the_other_kind():
    with pytest.raises(pqtls.InvalidKey):
        pqtls.SigningKey.from_pem(decapsulation_key("ML-KEM-512").to_pem())
    with pytest.raises(pqtls.InvalidKey):
        pqtls.EncapsulationKey.from_der(signing_key("ML-DSA-44").verifying_key.to_der())
    with pytest.raises(pqtls.UnknownAlgorithm, match='"ML-KEM-512" is not an algorithm known here; known: ML-DSA-44'):
        pqtls.SigningKey.generate("ML-KEM-512")
    assert pqtls.SigningKey.generate("ml-dsa-44").algorithm == "ML-DSA-44"
    with pytest.raises(TypeError):
        pqtls.SigningKey()


@pytest.mark.parametrize("algorithm", ["ML-DSA-44", "ML-KEM-512"])
def test_objects(algorithm):
    key = private(algorithm)
    half = public(key)
    other = type(key).generate(algorithm)
    assert key != other and key != half and key != 5
    assert half != public(other) and half != half.to_bytes()
    assert {key, key, other} == {key, other}
    assert {half, type(half).from_der(half.to_der())} == {half}
    assert repr(key) == f"<pqtls.{type(key).__name__} of {algorithm}>"
    assert repr(half) == f"<pqtls.{type(half).__name__} of {algorithm}>"
    # These are the whole texts, so they show no secret.
    for shown in (str(key), f"{key}", f"{[key]}"[1:-1]):
        assert shown == repr(key)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(key, protocol)
        if protocol >= 2:
            assert pickle.loads(pickle.dumps(half, protocol)) == half
    assert copy.copy(key) is key and copy.deepcopy([key])[0] is key
    assert copy.copy(half) is half and copy.deepcopy(half) is half
    with pytest.raises(AttributeError):
        key.algorithm = "other"
    with pytest.raises(TypeError):
        class Derived(type(key)): ...
    with pytest.raises(TypeError):
        key < other


def test_exceptions():
    for name in pqtls.__all__:
        found = getattr(pqtls, name)
        if isinstance(found, type) and issubclass(found, Exception):
            assert issubclass(found, pqtls.Error)
            assert found.__module__ == "pqtls" and found.__doc__
            assert pickle.loads(pickle.dumps(found("words"))).args == ("words",)


def test_rfc_keys(rfc: pathlib.Path):
    """The example keys of RFC 9881, RFC 9935 and RFC 9909, and those that must be refused."""
    good = bad = 0
    for file in sorted(rfc.glob("*/*.priv")):
        if file.name.startswith("bad-"):
            with pytest.raises(pqtls.InvalidKey):
                pqtls.load_private_key(file)
            bad += 1
            continue
        key = pqtls.load_private_key(file)
        half = file.with_suffix(".pub")
        if not half.exists():
            half = file.with_name(file.name.rsplit("-", 1)[0] + ".pub")
        assert public(key) == pqtls.load_public_key(half), file
        good += 1
    assert (good >= 19, bad) == (True, 7)


def test_rfc_certificates(rfc: pathlib.Path):
    count = 0
    for file in sorted(rfc.glob("*/*.crt")) + sorted(rfc.glob("lamps-x509-slhdsa/*.pem")):
        certificate = pqtls.Certificate.load(file)
        assert certificate.public_key() == pqtls.load_public_key(file.with_suffix(".pub"))
        if isinstance(certificate.public_key(), pqtls.VerifyingKey):
            certificate.verify_signature(certificate)
        count += 1
    assert count >= 7
