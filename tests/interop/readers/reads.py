"""Whether Python's cryptography reads private keys: see `run` for the lines that this reads and answers."""

import sys
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_private_key
from cryptography.hazmat.primitives.serialization.pkcs12 import load_key_and_certificates


def public_key(kind: str, file: bytes, passphrase: bytes) -> bytes:
    match kind:
        case "pkcs12":
            key, _, _ = load_key_and_certificates(file, passphrase)
        case "encrypted":
            key = load_der_private_key(file, passphrase)
        case _:
            key = load_der_private_key(file, None)
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


for line in sys.stdin:
    kind, _, path = line.split()
    try:
        answer = "public " + public_key(kind, Path(path).read_bytes(), sys.argv[1].encode()).hex()
    except Exception as error:
        answer = f"no {error!r}"
    print(answer.replace("\n", " "), flush=True)
