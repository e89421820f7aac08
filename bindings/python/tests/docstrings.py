"""Copies the docstrings of the compiled module into the type stubs. Editors read the stubs: they can't look into the
module. Run this with the interpreter of an environment that has the package, such as the one that `test` makes."""

import ast
import inspect
import pathlib
import textwrap
from collections.abc import Iterator

import pqtls

STUBS = pathlib.Path(__file__).parents[1] / "python/pqtls/__init__.pyi"
# with the closing quotes, 120
WIDTH = 117


def with_docstrings(stubs: str) -> str:
    """The stubs with the docstrings of the module, in place of those that they have."""
    lines = stubs.splitlines()
    # From the end, so that the numbers of the lines before stay right.
    for owner, node in sorted(public(pqtls, ast.parse(stubs)), key=lambda found: -found[1].lineno):
        docstring = written(inspect.getdoc(getattr(owner, node.name)), node.col_offset + 4)
        old = node.body[0]
        if isinstance(node, ast.FunctionDef):
            # The body is a docstring, or "..." in the last line of the signature.
            header = lines[old.lineno - 1][: old.col_offset].rstrip()
            lines[old.lineno - 1 : old.end_lineno] = [header, *docstring] if header else docstring
        else:
            has_docstring = ast.get_docstring(node) is not None
            lines[node.lineno : old.end_lineno if has_docstring else node.lineno] = docstring
    return "\n".join(lines) + "\n"


def public(owner: object, tree: ast.Module | ast.ClassDef) -> Iterator[tuple[object, ast.ClassDef | ast.FunctionDef]]:
    """The public classes and functions in the stubs, each with the object that has it."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield owner, node
            if isinstance(node, ast.ClassDef):
                yield from public(getattr(owner, node.name), node)


def written(docstring: str | None, indentation: int) -> list[str]:
    """The lines of a docstring. Paragraphs are wrapped again, as they have another indentation in Rust; examples
    stay as they are."""
    assert docstring and "\\" not in docstring and not docstring.endswith('"'), docstring
    indent = " " * indentation
    lines: list[str] = []
    for paragraph in docstring.split("\n\n"):
        start = indent if lines else f'{indent}"""'
        if lines:
            lines.append("")
        if paragraph.startswith(">>>"):
            lines += textwrap.indent(paragraph, indent).splitlines()
        else:
            # Neither "ML-DSA" nor a long name is broken.
            wrapper = textwrap.TextWrapper(WIDTH, start, indent, break_long_words=False, break_on_hyphens=False)
            lines += wrapper.wrap(paragraph)
    if len(lines) == 1:
        return [f'{lines[0]}"""']
    return [*lines, f'{indent}"""']


if __name__ == "__main__":
    STUBS.write_text(with_docstrings(STUBS.read_text("utf-8")), "utf-8")
