"""The image holds what its commands need, and no test doubles."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from multi_agents.cli.exit_codes import ExitCode
from tests.compose.image import image_files, is_ignored
from tests.compose.tool import ROOT
from tests.preloaded import process as preloaded

SECONDS = 60
CHECKS_FROM_OUTSIDE = {"__init__.py", "conformance.py", "contract"}


def test_no_test_double_is_in_the_image():
    names = {path.as_posix() for path in image_files()}
    assert "agents/github/agent.py" in names
    testing = {name for name in names if "/testing/" in name}
    assert {name.removeprefix("utils/testing/").split("/")[0] for name in testing} == CHECKS_FROM_OUTSIDE


def test_the_built_page_is_in_the_image_and_its_source_is_not():
    names = {path.as_posix() for path in image_files()}
    assert "utils/web/built/index.html" in names
    assert [name for name in names if name.startswith("multi_agents/web")] == []


def test_the_conformance_command_runs_on_the_files_of_the_image(tmp_path: Path):
    for name in image_files():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    command = ["-m", "multi_agents.cli", "conformance", "http://127.0.0.1:9"]
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(tmp_path)}
    done = preloaded.run(command, cwd=tmp_path, env=environ, timeout=SECONDS)
    assert done.returncode == ExitCode.UNREACHABLE, done.stderr


@pytest.mark.parametrize(
    ("name", "ignored"),
    [
        ("utils/errors.py", False),
        ("tests/conftest.py", True),
        ("utils/testing/strict/faults.py", True),
        ("utils/testing/contract/session.py", False),
        ("utils/llm/__pycache__/x.pyc", True),
    ],
)
def test_rules_are_read_as_docker_reads_them(name, ignored):
    rules = ["*", "!utils", "utils/testing/*", "!utils/testing/contract", "**/__pycache__"]
    assert is_ignored(name, rules) is ignored
