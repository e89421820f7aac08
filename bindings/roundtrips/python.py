"""The package for Python as one of those that exchange keys, signatures and ciphertexts: see `run`."""

import secrets
import sys

import pqtls

SETS = ["ML-KEM-512", "ML-KEM-768", "ML-KEM-1024", "ML-DSA-44", "ML-DSA-65", "ML-DSA-87"]
FAST_SETS = [f"SLH-DSA-{family}-{size}f" for family in ("SHA2", "SHAKE") for size in (128, 192, 256)]


def algorithm_of(number: int) -> str:
    return FAST_SETS[number // 100 % 6] if number % 100 == 99 else SETS[number % 6]


def to_hex(data: bytes) -> str:
    return data.hex() or "-"


def write_ciphertext(private: pqtls.DecapsulationKey, public: pqtls.EncapsulationKey) -> None:
    secret, ciphertext = public.encapsulate()
    write(public.algorithm, private.to_der(), public.to_der(), secret, b"", ciphertext)


def write_signature(number: int, private: pqtls.SigningKey, public: pqtls.VerifyingKey) -> None:
    message, context = secrets.token_bytes(number * 7919 % 2000), secrets.token_bytes(number % 256)
    signature = private.sign(message, context=context)
    write(public.algorithm, private.to_der(), public.to_der(), message, context, signature)


def write(algorithm: str, *fields: bytes) -> None:
    print(algorithm, *map(to_hex, fields))


def answer(number: int, line: str) -> None:
    algorithm, *fields = line.split()
    private_der, public_der, message, context, output = (bytes.fromhex(field.strip("-")) for field in fields)
    changed = bytearray(output)
    changed[secrets.randbelow(len(changed))] ^= 1 << secrets.randbelow(8)
    if algorithm.startswith("ML-KEM"):
        decapsulation_key = pqtls.DecapsulationKey.from_der(private_der)
        encapsulation_key = pqtls.EncapsulationKey.from_der(public_der)
        assert decapsulation_key.encapsulation_key == encapsulation_key, "another key's public half"
        assert decapsulation_key.decapsulate(output) == message, "another secret"
        assert decapsulation_key.decapsulate(changed) != message, "a changed ciphertext has its secret"
        write_ciphertext(decapsulation_key, encapsulation_key)
        return
    signing_key = pqtls.SigningKey.from_der(private_der)
    verifying_key = pqtls.VerifyingKey.from_der(public_der)
    assert signing_key.verifying_key == verifying_key, "another key's public half"
    verifying_key.verify(message, output, context=context)
    try:
        verifying_key.verify(message, changed, context=context)
    except pqtls.InvalidSignature:
        pass
    else:
        raise AssertionError("a changed signature is valid")
    write_signature(number, signing_key, verifying_key)


def make(number: int) -> None:
    if algorithm_of(number).startswith("ML-KEM"):
        decapsulation_key = pqtls.DecapsulationKey.generate(algorithm_of(number))
        write_ciphertext(decapsulation_key, decapsulation_key.encapsulation_key)
    else:
        signing_key = pqtls.SigningKey.generate(algorithm_of(number))
        write_signature(number, signing_key, signing_key.verifying_key)


if sys.argv[1] == "make":
    for number in range(int(sys.argv[2])):
        make(number)
else:
    for number, line in enumerate(sys.stdin):
        try:
            answer(number, line)
        except Exception as error:
            sys.exit(f"Python: number {number}: {error}\n{line}")
