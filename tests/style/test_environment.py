"""The environment is read in one place."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.style.sources import ROOT, dotted, lines_of, nodes_of, python_files, short

READER = ROOT / "utils" / "environment.py"
BEFORE_DEPENDENCIES = ROOT / "utils" / "bootstrap.py"
"""Runs with the standard library alone, before settings can be imported; hands the environment on to pip."""

FORKED = ROOT / "utils" / "processes" / "fork_server.py"
"""Gives a forked process its environment, as an exec would; reads none."""


def _is_environment(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return dotted(node) in {"os.environ", "os.getenv", "os.environb", "os.putenv"}
    return isinstance(node, ast.ImportFrom) and node.module == "os" and any(
        name.name in {"environ", "getenv", "environb", "putenv"} for name in node.names
    )  # fmt: skip


def _switch_of_a_library(path: Path, line: int) -> bool:
    """Whether a line sets a switch that a library reads, with a comment beside or above that says so."""
    text, above = lines_of(path)[line - 1], lines_of(path)[line - 2]
    sets = ".setdefault(" in text or "] = " in text or ".pop(" in text
    return sets and ("#" in text or above.lstrip().startswith("#"))


def test_only_the_settings_read_the_environment():
    readers = [
        f"{short(path)}:{node.lineno}"
        for path in python_files()
        if path not in {READER, BEFORE_DEPENDENCIES, FORKED}
        for node in nodes_of(path)
        if _is_environment(node)
        and isinstance(node, ast.Attribute | ast.ImportFrom)
        and not _switch_of_a_library(path, node.lineno)
    ]
    assert not readers, "read settings through utils/settings.py; a library's switch needs a comment"
