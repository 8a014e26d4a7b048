"""What others call says what it does."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.style.sources import FunctionNode, python_files, short, tree_of


def _public(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, ast.AST]]:
    for node in body:
        if not isinstance(node, FunctionNode | ast.ClassDef) or node.name.startswith("_"):
            continue
        if isinstance(node, FunctionNode) and _is_exempt(node):
            continue
        yield f"{owner}{node.name}", node
        if isinstance(node, ast.ClassDef):
            yield from _public(node.body, f"{node.name}.")


def _is_exempt(node: FunctionNode) -> bool:
    names = {ast.unparse(decorator).split(".")[-1] for decorator in node.decorator_list}
    return bool(names & {"override", "overload", "setter"})


def test_every_public_name_of_utils_has_a_docstring():
    missing = [
        f"{short(path)}:{node.lineno} {name}"
        for path in python_files("utils")
        for name, node in _public(tree_of(path).body)
        if isinstance(node, FunctionNode | ast.ClassDef) and not ast.get_docstring(node)
    ]
    assert not missing


def test_every_module_with_code_has_a_docstring():
    missing = [
        short(path) for path in python_files() if tree_of(path).body and not ast.get_docstring(tree_of(path))
    ]
    assert not missing
