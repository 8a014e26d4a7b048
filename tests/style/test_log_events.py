"""Names of log events are dotted: what it is about, then what happened."""

from __future__ import annotations

import ast
import re

from tests.style.sources import dotted, nodes_of, python_files, short

LEVELS = {"debug", "info", "warning", "error", "exception"}
DOTTED = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")


def _events():
    for path in python_files():
        for node in nodes_of(path):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if node.func.attr in LEVELS and dotted(node.func.value) == "log":
                yield f"{short(path)}:{node.lineno}", node.args[0] if node.args else None


def _is_dotted(name: ast.expr | None) -> bool:
    if isinstance(name, ast.IfExp):
        return _is_dotted(name.body) and _is_dotted(name.orelse)
    return isinstance(name, ast.Constant) and DOTTED.fullmatch(str(name.value)) is not None


def test_every_log_event_has_a_dotted_name():
    found = list(_events())
    assert len(found) > 50
    wrong = [where for where, name in found if not _is_dotted(name)]
    assert not wrong, 'log.warning("delegation.failed", agent=…), with the values as arguments'
