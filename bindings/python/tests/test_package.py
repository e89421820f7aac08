"""What the package says of itself: its version, its licences, and the names of algorithms."""

import contextlib
import importlib.metadata
import pathlib

import pqtls
import pytest
from algorithms import signing_key
from packaging.version import Version

REPOSITORY = pathlib.Path(__file__).parents[3]


def test_version():
    # They may be spelled in different ways: 0.1.0-rc.1 is 0.1.0rc1.
    assert Version(pqtls.__version__) == Version(importlib.metadata.version("pqtls"))


def test_licences():
    distribution = importlib.metadata.distribution("pqtls")
    licences = ["LICENSE-APACHE", "LICENSE-MIT"]
    assert sorted(distribution.metadata.get_all("License-File")) == licences
    for licence in licences:
        assert distribution.read_text(f"licenses/{licence}") == (REPOSITORY / licence).read_text("utf-8")


@pytest.mark.parametrize(
    ("names", "use"),
    [
        (pqtls.SIGNATURE_ALGORITHMS, lambda name: pqtls.VerifyingKey.from_bytes(name, b"")),
        (pqtls.KEM_ALGORITHMS, lambda name: pqtls.EncapsulationKey.from_bytes(name, b"")),
        (pqtls.PRE_HASHES, lambda name: signing_key("ML-DSA-44").sign(b"", pre_hash=name)),
    ],
)
def test_names(names, use):
    """They are those that the compiled module knows, in its order."""
    for name in names:
        # The key has no bytes, and some hashes are too weak for a signature; but the name is known.
        with contextlib.suppress(pqtls.InvalidKey, pqtls.OperationError):
            use(name)
    with pytest.raises(pqtls.UnknownAlgorithm) as refused:
        use("none")
    _, known = str(refused.value).split("; known: ")
    assert tuple(known.split(", ")) == names
