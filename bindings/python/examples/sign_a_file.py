"""Signs a file of any size, which is read in pieces, and verifies the signature."""

from pathlib import Path

import pqtls


def hash_file(hasher: pqtls.MessageHasher, path: Path) -> pqtls.HashedMessage:
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            hasher.update(piece)
    return hasher.finish()


path = Path("backup.tar")
path.write_bytes(bytes(5_000_000))

key = pqtls.SigningKey.generate("ML-DSA-65")
key.save("backup.key", passphrase="correct horse battery staple")
key.verifying_key.save("backup.pub")
signature = key.sign_hashed(hash_file(key.hasher(context=b"backups"), path))

public = pqtls.load_public_key("backup.pub")
assert isinstance(public, pqtls.VerifyingKey)
public.verify_hashed(hash_file(public.hasher(context=b"backups"), path), signature)
print(f"{path} has a valid signature of {len(signature)} bytes by {public.algorithm}")
