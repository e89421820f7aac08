"""NIST's vectors (ACVP) through the public interface: a few of each group."""

import gzip
import json

import pqtls
import pytest

CASES = 2


@pytest.fixture(scope="module")
def groups(vectors):
    def read(name, file="internalProjection"):
        path = vectors / "acvp" / name / f"{file}.json.gz"
        return json.loads(gzip.decompress(path.read_bytes()))["testGroups"]

    return read


def unhex(test, name):
    return bytes.fromhex(test.get(name) or "")


def slow(group):
    return group["parameterSet"].startswith("SLH") and group["parameterSet"].endswith("s")


def options(group, test):
    """Keyword arguments, or None for interfaces that the package does not have."""
    if group.get("signatureInterface", "external") != "external" and not group.get("externalMu"):
        return None
    found = {}
    if group.get("preHash") == "preHash":
        found["pre_hash"] = test["hashAlg"].replace("SHA2-", "SHA-").replace("SHAKE-", "SHAKE")
    if not group.get("externalMu"):
        found["context"] = unhex(test, "context")
    return found


def test_ml_kem_keys(groups):
    count = 0
    for group in groups("ML-KEM-keyGen-FIPS203"):
        for test in group["tests"][:CASES]:
            key = pqtls.DecapsulationKey.from_seed(group["parameterSet"], unhex(test, "d") + unhex(test, "z"))
            assert key.to_expanded() == unhex(test, "dk")
            assert bytes(key.encapsulation_key) == unhex(test, "ek")
            count += 1
    assert count == 3 * CASES


def test_ml_kem_secrets(groups):
    counts = dict.fromkeys(["encapsulation", "decapsulation", "encapsulationKeyCheck", "decapsulationKeyCheck"], 0)
    for group in groups("ML-KEM-encapDecap-FIPS203-tr1"):
        algorithm, function = group["parameterSet"], group["function"]
        for i, test in enumerate(group["tests"]):
            if function.endswith("KeyCheck"):
                kind, name = (
                    (pqtls.EncapsulationKey.from_bytes, "ek")
                    if function.startswith("encapsulation")
                    else (pqtls.DecapsulationKey.from_expanded, "dk")
                )
                if test["testPassed"]:
                    kind(algorithm, unhex(test, name))
                else:
                    with pytest.raises(pqtls.InvalidKey):
                        kind(algorithm, unhex(test, name))
            elif i >= CASES:
                continue
            elif function == "encapsulation":
                key = pqtls.EncapsulationKey.from_bytes(algorithm, unhex(test, "ek"))
                made = key.encapsulate_with_randomness(unhex(test, "m"))
                assert made == (unhex(test, "k"), unhex(test, "c"))
            elif test.get("dk"):
                key = pqtls.DecapsulationKey.from_expanded(algorithm, unhex(test, "dk"))
                assert key.decapsulate(unhex(test, "c")) == unhex(test, "k")
            else:
                continue
            counts[function] += 1
    assert all(counts.values()), counts


def test_ml_dsa_keys(groups):
    count = 0
    for group in groups("ML-DSA-keyGen-FIPS204"):
        for test in group["tests"][:CASES]:
            key = pqtls.SigningKey.from_seed(group["parameterSet"], unhex(test, "seed"))
            assert key.to_expanded() == unhex(test, "sk")
            assert bytes(key.verifying_key) == unhex(test, "pk")
            count += 1
    assert count == 3 * CASES


def test_slh_dsa_keys(groups):
    count = 0
    for group in groups("SLH-DSA-keyGen-FIPS205"):
        for test in group["tests"][:CASES]:
            if slow(group):
                continue
            seed = unhex(test, "skSeed") + unhex(test, "skPrf") + unhex(test, "pkSeed")
            key = pqtls.SigningKey.from_seed(group["parameterSet"], seed)
            assert key.to_expanded() == unhex(test, "sk")
            assert bytes(key.verifying_key) == unhex(test, "pk")
            count += 1
    assert count == 6 * CASES


def sign_and_compare(group, test, signature):
    """How many signatures were compared."""
    found = options(group, test)
    if found is None:
        return 0
    key = pqtls.SigningKey.from_expanded(group["parameterSet"], unhex(test, "sk"))
    try:
        if group.get("externalMu"):
            made = key.sign_mu(unhex(test, "mu"), deterministic=True)
        else:
            made = key.sign(unhex(test, "message"), deterministic=True, **found)
    except pqtls.OperationError as refused:
        # a hash function that is weaker than the key, which the standards don't want
        assert "pre_hash" in found and found["pre_hash"] in str(refused)
        return 0
    assert made == signature
    return 1


def test_ml_dsa_signatures(groups):
    count = 0
    name = "ML-DSA-sigGen-FIPS204"
    for group, results in zip(groups(name, "prompt"), groups(name, "expectedResults"), strict=True):
        for test, result in list(zip(group["tests"], results["tests"], strict=True))[:CASES]:
            if group["deterministic"]:
                count += sign_and_compare(group, test, unhex(result, "signature"))
    assert count >= 3 * 3


def test_slh_dsa_signatures(groups):
    signed = verified = 0
    for group in groups("SLH-DSA-sigGen-FIPS205", "subset"):
        for test in group["tests"]:
            found = options(group, test)
            if found is None:
                continue
            private, signature = unhex(test, "sk"), unhex(test, "signature")
            public = pqtls.VerifyingKey.from_bytes(group["parameterSet"], private[len(private) // 2 :])
            public.verify(unhex(test, "message"), signature, **found)
            with pytest.raises(pqtls.InvalidSignature):
                public.verify(unhex(test, "message") + b"\0", signature, **found)
            verified += 1
            if not slow(group) and not test.get("additionalRandomness"):
                signed += sign_and_compare(group, test, signature)
    assert signed >= 6 and verified >= 24


def test_ml_dsa_verification(groups):
    """Those of SLH-DSA are of the internal interface, and its signatures are verified above."""
    counts = {True: 0, False: 0}
    for group in groups("ML-DSA-sigVer-FIPS204"):
        for test in group["tests"][: CASES + 4]:
            found = options(group, test)
            if found is None:
                continue
            key = pqtls.VerifyingKey.from_bytes(group["parameterSet"], unhex(test, "pk"))
            signature = unhex(test, "signature")
            try:
                if group.get("externalMu"):
                    key.verify_mu(unhex(test, "mu"), signature)
                else:
                    key.verify(unhex(test, "message"), signature, **found)
                valid = True
            except pqtls.InvalidSignature:
                valid = False
            assert valid == test["testPassed"], test["tcId"]
            counts[valid] += 1
    assert min(counts.values()) >= 6, counts
