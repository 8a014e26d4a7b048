"""Settings are parsed where a process or a command begins, never while a request is served."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.style.sources import ROOT, python_files, short, tree_of

ENTRY_POINTS = {
    "utils/a2a_common/graph/settings.py": {"load"},
    "utils/a2a_common/server/serve.py": {"serve"},
    "utils/a2a_common/server/start_check.py": {"check_start"},
    "agents/rag/ingest_command.py": {"_open"},
    "agents/rag/ship_vectors.py": {"passages"},
}
"""Functions that begin a process."""
AGENT_FILES = ("agents/*/agent.py", "multi_agents/platform_engineer/agent.py")
"""An agent parses its own settings in its constructor, which runs once."""
COMMANDS = ROOT / "multi_agents" / "cli"
TESTING = ROOT / "utils" / "testing"


def _loads(path: Path) -> Iterator[tuple[str, int]]:
    """The function around each call of `SomeSettings.load`, and its line."""

    def walk(node: ast.AST, function: str) -> Iterator[tuple[str, int]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call) and ast.unparse(child.func).endswith("Settings.load"):
                yield function, child.lineno
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from walk(child, getattr(child, "name", "lambda") if is_function else function)

    return walk(tree_of(path), "")


def _is_entry_point(path: Path, function: str) -> bool:
    if path.is_relative_to(COMMANDS):
        return True  # a command is a process
    name = short(path)
    if any(Path(name).match(pattern) for pattern in AGENT_FILES):
        return function == "__init__"
    return function in ENTRY_POINTS.get(name, set())


def test_settings_are_parsed_at_entry_points_only():
    elsewhere = [
        f"{short(path)}:{line}"
        for path in python_files()
        if not path.is_relative_to(TESTING)
        for function, line in _loads(path)
        if not _is_entry_point(path, function)
    ]
    assert not elsewhere, "take settings from AgentRuntime.settings, or from the constructor of the agent"


def test_every_entry_point_named_here_exists():
    for name, functions in ENTRY_POINTS.items():
        assert functions <= {function for function, _ in _loads(ROOT / name)}, name
