"""A test that a document names as the holder of a promise exists."""

from __future__ import annotations

import ast
import re

from tests.docs.blocks import ROOT, documents

NAMED = re.compile(r"`(?:tests/[\w/]+\.py::)?(test_\w+)`")


def _existing() -> set[str]:
    return {
        node.name
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    } | {path.stem for path in (ROOT / "tests").rglob("test_*.py")}


def test_every_test_that_a_document_names_exists():
    existing = _existing()
    missing = [
        f"{document}: {name}"
        for document in documents()
        for name in NAMED.findall((ROOT / document).read_text("utf-8"))
        if name not in existing
    ]
    assert not missing
