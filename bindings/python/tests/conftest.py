import os
import pathlib
import tarfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

# The machine may be busy with other things, and random input must not differ from run to run.
settings.register_profile("tests", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("tests")

VECTORS = pathlib.Path(__file__).parents[4] / "shared/vectors"


@pytest.fixture(scope="session")
def vectors() -> pathlib.Path:
    if not VECTORS.is_dir():
        if os.environ.get("CI"):
            pytest.fail(f"the vectors are missing: {VECTORS}")
        pytest.skip("the vectors are not beside this checkout")
    return VECTORS


@pytest.fixture(scope="session")
def rfc(vectors: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[pathlib.Path]:
    folder = tmp_path_factory.mktemp("rfc")
    with tarfile.open(vectors / "rfc.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    yield folder / "rfc"
