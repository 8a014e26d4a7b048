"""Arrows point down, and start-up is lean."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.style.sources import ROOT

pytestmark = pytest.mark.processes

HEAVY = ("langchain", "langchain_core", "langgraph", "onnxruntime", "tokenizers", "numpy", "openai", "boto3", "botocore",
         "a2a", "httpx", "grpc", "starlette", "uvicorn", "githubkit", "prompt_toolkit")  # fmt: skip


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=280)


def test_the_import_contracts_are_kept():
    tool = Path(sys.executable).parent / "lint-imports"
    done = _run(str(tool), "--no-cache")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", ["multi_agents.cli.main", "utils.settings", "utils.a2a_common"])
def test_importing_a_module_loads_nothing_heavy(module):
    code = f"import sys, {module}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = _run(sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr
    assert not done.stdout.split(), f"import {module} loads them"


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom multi_agents.cli.main import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit as end:\n    assert not end.code\n"
        f"print('HEAVY', *(name for name in {HEAVY!r} if name in sys.modules))"
    )
    done = _run(sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].split() == ["HEAVY"]
