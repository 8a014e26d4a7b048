"""The project's own Python files, parsed once."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = ("utils", "multi_agents", "agents")

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def python_files(*folders: str) -> tuple[Path, ...]:
    """Every Python file under these folders; under all code without an argument."""
    found = [path for folder in folders or CODE for path in (ROOT / folder).rglob("*.py")]
    return tuple(sorted(found))


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text("utf-8"))


@cache
def lines_of(path: Path) -> tuple[str, ...]:
    """The lines of a file, from index 0."""
    return tuple(path.read_text("utf-8").splitlines())


def functions(path: Path) -> Iterator[FunctionNode]:
    """Every function and method of a file."""
    for node in nodes_of(path):
        if isinstance(node, FunctionNode):
            yield node


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Every node of the syntax tree of a file."""
    return tuple(ast.walk(tree_of(path)))


def dotted(node: ast.AST) -> str:
    """The text of a chain of names such as `os.environ`, else nothing. `ast.unparse` takes seconds for all that there is."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(names))) if isinstance(node, ast.Name) else ""


def short(path: Path) -> str:
    """The path for a message."""
    return str(path.relative_to(ROOT))


def tracked_files() -> list[Path]:
    """Every file of the checkout that is or may be committed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):  # an image or an archive has no history
        hidden = (".venv", ".git", ".data")
        return [
            path
            for path in ROOT.rglob("*")
            if path.is_file()
            and not any(
                part.startswith(hidden) or part.endswith(("_cache", "__pycache__")) for part in path.parts
            )
        ]
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]
