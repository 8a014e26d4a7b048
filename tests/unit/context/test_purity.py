"""The pure files of context management import nothing that reads a clock, an environment or a graph."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SHELL = {
    "middleware.py",
    "tools.py",
    "announce.py",
    "langmem.py",
    "factory.py",
    "settings.py",
    "compress_tool_results.py",
    "learnt_windows.py",
    "state.py",
    "task_meter.py",
    "sending.py",
    "refusals.py",
}
FILES = [
    *(path for path in (ROOT / "utils/context").rglob("*.py") if path.name not in SHELL),
    *(ROOT / f"utils/messages/{name}.py" for name in ("transcript", "repair", "calls", "invariants", "handles", "counter")),
]  # fmt: skip
FORBIDDEN = {
    "os",
    "time",
    "datetime",
    "logging",
    "structlog",
    "langgraph",
    "langchain",
    "random",
    "pathlib",
    "sqlite3",
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_context_function_reads_no_environment_clock_graph_or_logger(path):
    imported = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).partition(".")[0])
    assert imported & FORBIDDEN == set()


def test_there_are_files_to_check():
    assert len(FILES) > 20
