"""Writes NIST's vectors as lines that tests/vectors.c reads.

    vectors.py ACVP-FOLDER OUTPUT [CASES]

of each group the first CASES cases (2), without those of the s-sets of SLH-DSA that make keys or sign, which are slow.
"""

import gzip
import json
import pathlib
import sys

folder, output = pathlib.Path(sys.argv[1]), sys.argv[2]
cases = int(sys.argv[3]) if len(sys.argv) > 3 else 2
HASHES = {
    name: i
    for i, name in enumerate(
        ["SHA2-224", "SHA2-256", "SHA2-384", "SHA2-512", "SHA2-512/224", "SHA2-512/256", "SHA3-224",
         "SHA3-256", "SHA3-384", "SHA3-512", "SHAKE-128", "SHAKE-256"], 1)
}  # fmt: skip
DIGEST_BITS = dict(enumerate([224, 256, 384, 512, 224, 256, 224, 256, 384, 512, 256, 512], 1))
STRENGTHS = {"ML-DSA-44": 128, "ML-DSA-65": 192, "ML-DSA-87": 256, "-128": 128, "-192": 192, "-256": 256}
lines = []


def groups(name, file="internalProjection"):
    return json.loads(gzip.decompress((folder / name / f"{file}.json.gz").read_bytes()))["testGroups"]


def line(what, group, *fields, good=True, kind=0):
    words = [what, group["parameterSet"], str(int(good)), str(kind), *(field or "-" for field in fields)]
    lines.append(" ".join(words))


def kind_of(group, test):
    """None for interfaces that the library does not have."""
    if group.get("externalMu"):
        return 64
    if group.get("signatureInterface", "external") != "external":
        return None
    return HASHES[test["hashAlg"]] if group.get("preHash") == "preHash" else 0


def is_refused(kind, group):
    """Whether signing refuses the hash function, since it is weaker than the key."""
    strength = next(bits for name, bits in STRENGTHS.items() if name in group["parameterSet"])
    return kind in DIGEST_BITS and DIGEST_BITS[kind] < 2 * strength


def slow(group):
    return group["parameterSet"].startswith("SLH") and group["parameterSet"].endswith("s")


for group in groups("ML-KEM-keyGen-FIPS203"):
    for test in group["tests"][:cases]:
        line("kem-keygen", group, test["d"] + test["z"], test["ek"], test["dk"])
for group in groups("ML-KEM-encapDecap-FIPS203-tr1"):
    for test in group["tests"][:cases]:
        if group["function"] == "encapsulation":
            line("kem-encaps", group, test["ek"], test["m"], test["c"], test["k"])
        elif group["function"] == "decapsulation" and test.get("dk"):
            line("kem-decaps", group, test["dk"], test["c"], test["k"])
    for test in group["tests"]:
        if group["function"] == "encapsulationKeyCheck":
            line("kem-check-ek", group, test["ek"], good=test["testPassed"])
        elif group["function"] == "decapsulationKeyCheck":
            line("kem-check-dk", group, test["dk"], good=test["testPassed"])
for group in groups("ML-DSA-keyGen-FIPS204"):
    for test in group["tests"][:cases]:
        line("dsa-keygen", group, test["seed"], test["pk"], test["sk"])
for group, results in zip(groups("ML-DSA-sigGen-FIPS204", "prompt"), groups("ML-DSA-sigGen-FIPS204", "expectedResults")):
    for test, result in list(zip(group["tests"], results["tests"]))[:cases]:
        kind = kind_of(group, test)
        if kind is not None and not is_refused(kind, group):
            message = test["mu"] if kind == 64 else test["message"]
            context = "" if kind == 64 else test.get("context", "")
            line("sign", group, test["sk"], test.get("rnd"), message, context, result["signature"], kind=kind)
for name in ("ML-DSA-sigVer-FIPS204", "SLH-DSA-sigVer-FIPS205"):
    for group in groups(name):
        if name.startswith("SLH") and "signatureInterface" not in group:
            continue
        for test in group["tests"][: cases + 4]:
            kind = kind_of(group, test)
            if kind is not None:
                message = test["mu"] if kind == 64 else test["message"]
                context = "" if kind == 64 else test.get("context", "")
                good = test["testPassed"]
                line("verify", group, test["pk"], message, context, test["signature"], good=good, kind=kind)
for group in groups("SLH-DSA-keyGen-FIPS205"):
    for test in group["tests"][:cases]:
        if not slow(group):
            line("slh-keygen", group, test["skSeed"] + test["skPrf"] + test["pkSeed"], test["pk"], test["sk"])
for group in groups("SLH-DSA-sigGen-FIPS205", "subset"):
    for test in group["tests"][:cases]:
        kind = kind_of(group, test)
        if kind is None:
            continue
        sk, context, signature = test["sk"], test.get("context", ""), test["signature"]
        pk = sk[len(sk) // 2 :]
        line("verify", group, pk, test["message"], context, signature, kind=kind)
        if not slow(group) and not is_refused(kind, group):
            line("sign", group, sk, test.get("additionalRandomness"), test["message"], context, signature, kind=kind)
pathlib.Path(output).write_text("\n".join(lines) + "\n")
