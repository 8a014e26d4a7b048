"""Broad excepts stand at four boundaries, say which, and never swallow.

The fourth, one document, is as much a stranger's work as a tool's: what its bytes make four parsers raise is no closed
set (recursion, broken codecs, damaged streams, half characters), and the documents behind it must be read all the same.
Our own typed errors and a lack of memory pass it.
"""

from __future__ import annotations

import ast

from tests.style.sources import lines_of, python_files, short, tree_of

BOUNDARIES = ("executor", "tool boundary", "background task", "one document")
BROAD = {"Exception", "BaseException"}


def _handlers():
    for path in python_files():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ExceptHandler):
                yield path, node


def _is_broad(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in BROAD) for kind in kinds)


def _raises(handler: ast.ExceptHandler) -> bool:
    """Whether it ends by raising, or raises again what it does not know."""
    again = (isinstance(node, ast.Raise) and node.exc is None for node in ast.walk(handler))
    return isinstance(handler.body[-1], ast.Raise) or any(again)


def test_a_broad_except_names_the_boundary_that_it_stands_at():
    """One that raises hides nothing and needs no reason."""
    silent = [
        f"{short(path)}:{handler.lineno}"
        for path, handler in _handlers()
        if _is_broad(handler)
        and not _raises(handler)
        and not any(name in lines_of(path)[handler.lineno - 1].lower() for name in BOUNDARIES)
    ]
    assert not silent, f"say which of {BOUNDARIES} in the comment of the line"


def test_no_except_only_passes_over_what_it_caught():
    """`contextlib.suppress` says the same in a line and names the errors."""
    empty = [
        f"{short(path)}:{handler.lineno}"
        for path, handler in _handlers()
        if all(isinstance(statement, ast.Pass) for statement in handler.body)
    ]
    assert not empty


def test_nothing_suppresses_every_error():
    broad = [
        f"{short(path)}:{node.lineno}"
        for path in python_files()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("suppress")
        and any(isinstance(kind, ast.Name) and kind.id in BROAD for kind in node.args)
    ]
    assert not broad
