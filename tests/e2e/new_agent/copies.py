"""A copy of what an agent is added to, and the real command in it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from docs.make_configuration import groups
from tests.preloaded import process as preloaded
from utils.settings_docs import settings_of

ROOT = Path(__file__).resolve().parents[3]
COPIED = (
    "utils", "multi_agents", "agents", "docs", "tests/unit/agents", "helm/platform-engineer", "docker-compose.yaml",
    "pyproject.toml", "README.md", ".env.example", "Makefile",
)  # fmt: skip


def copy_of_the_checkout(folder: Path) -> Path:
    """The files that `new-agent` reads or writes, and those that a service needs."""
    for name in COPIED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)  # with the bytecode, which each command would make again
        elif source.exists():
            shutil.copy2(source, target)
    for package in ("tests", "tests/unit"):
        (folder / package / "__init__.py").touch()
    return folder


def environment(folder: Path, **more: str) -> dict[str, str]:
    """None of a developer's own settings, the copy's code, and data inside the copy."""
    ours = {one.variable for group in groups() for one in settings_of(group)}
    outer = {name: value for name, value in os.environ.items() if name not in ours}
    return {
        **outer, "PYTHONPATH": str(folder), "PLATFORM_ENGINEER_HOME": str(folder / ".data"),
        "RAG_SOURCES": "none", "PYTEST_DEBUG_TEMPROOT": str(folder.parent), **more,
    }  # fmt: skip


def command(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run `platform-engineer` in the copy."""
    line = ("-m", "multi_agents.cli", *arguments)
    return preloaded.run(line, cwd=folder, env=environment(folder, **more), timeout=280, leads=True)
