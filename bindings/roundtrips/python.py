"""The package for Python as one of the programs that exchange keys, signatures and ciphertexts: see `run`."""

import secrets
import sys

import pqtls

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


def make(number: int, line: str) -> None:
    algorithm = line.strip()
    if algorithm.startswith("ML-KEM"):
        decapsulation_key = pqtls.DecapsulationKey.generate(algorithm)
        write_ciphertext(decapsulation_key, decapsulation_key.encapsulation_key)
    else:
        signing_key = pqtls.SigningKey.generate(algorithm)
        write_signature(number, signing_key, signing_key.verifying_key)


act = {"make": make, "answer": answer}[sys.argv[1]]
for number, line in enumerate(sys.stdin):
    try:
        act(number, line)
    except Exception as error:
        sys.exit(f"Python: number {number}: {error}\n{line}")
