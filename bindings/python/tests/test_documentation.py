"""The README, the docstrings and the examples work; every object is documented; the types are what is there."""

import doctest
import inspect
import pathlib
import re
import subprocess
import sys

import pqtls
import pytest
from docstrings import STUBS, with_docstrings

PACKAGE = pathlib.Path(__file__).parents[1]


def blocks_of_readme():
    blocks = re.findall(r"^```python\n(.*?)^```$", (PACKAGE / "README.md").read_text(), re.M | re.S)
    assert len(blocks) >= 5
    return blocks


def test_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of_readme()
    assert len(blocks[0].splitlines()) <= 10
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)


def documented():
    yield "pqtls", pqtls
    for name in pqtls.__all__:
        item = getattr(pqtls, name)
        # not names of algorithms
        if inspect.isclass(item) or inspect.isroutine(item):
            yield name, item
        if inspect.isclass(item) and not issubclass(item, Exception):
            for member, value in vars(item).items():
                if not member.startswith("_"):
                    yield f"{name}.{member}", value


def test_everything_is_documented():
    without = [name for name, item in documented() if not inspect.getdoc(item)]
    assert not without


def test_the_stubs_have_the_docstrings():
    stubs = STUBS.read_text("utf-8")
    script = PACKAGE / "tests/docstrings.py"
    assert with_docstrings(stubs) == stubs, f"docstrings changed; run {sys.executable} {script}"


def test_docstrings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parser, runner, count = doctest.DocTestParser(), doctest.DocTestRunner(), 0
    for name, item in documented():
        test = parser.get_doctest(inspect.getdoc(item), {"pqtls": pqtls}, name, None, 0)
        count += len(test.examples)
        runner.run(test)
    assert count >= 20
    assert runner.summarize().failed == 0


@pytest.mark.parametrize("example", sorted((PACKAGE / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples(example, tmp_path):
    command = [sys.executable, "-X", "faulthandler", str(example)]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0 and ended.stderr == "", ended.stderr
    assert ended.stdout


def test_types_of_examples(tmp_path):
    """mypy takes what users copy: the README, as one program, and the docstrings."""
    (tmp_path / "readme.py").write_text("\n".join(blocks_of_readme()))
    for name, item in documented():
        if script := doctest.script_from_examples(inspect.getdoc(item)):
            (tmp_path / f"example_{name.replace('.', '_')}.py").write_text(f"import pqtls\n{script}")
    examples = sorted(map(str, tmp_path.glob("*.py")))
    assert len(examples) >= 10
    mypy = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--config-file", "", *examples]
    ended = subprocess.run(mypy, capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_types(tmp_path):
    """mypy takes the stubs, the examples and uses that are right, and the stubs say what is there."""
    folder = PACKAGE / "tests/types"
    config = ["--config-file", str(PACKAGE / "pyproject.toml"), "--no-incremental"]
    mypy = [sys.executable, "-m", "mypy", *config, "-p", "pqtls"]
    ended = subprocess.run(mypy, capture_output=True, text=True, cwd=folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    # uses.py marks wrong uses as ignored errors, and mypy complains about marks without an error
    files = [folder / "uses.py", PACKAGE / "tests/algorithms.py", *sorted((PACKAGE / "examples").glob("*.py"))]
    mypy = [sys.executable, "-m", "mypy", *config, "--warn-unused-ignores", *map(str, files)]
    ended = subprocess.run(mypy, capture_output=True, text=True, cwd=folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    # stubtest takes aliases of a Literal with several values for unions, which they are not at run time
    allowed = tmp_path / "allowed"
    allowed.write_text(r"pqtls\._names\.(SignatureAlgorithm|KemAlgorithm|PreHash)")
    stubtest = [sys.executable, "-m", "mypy.stubtest", "--allowlist", str(allowed), "pqtls"]
    ended = subprocess.run(stubtest, capture_output=True, text=True, cwd=folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
