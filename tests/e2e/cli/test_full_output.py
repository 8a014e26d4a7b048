"""Output that goes where nothing fits any more ends a command with one sentence, with and without JSON."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.cli.command import CLI, environment

pytestmark = pytest.mark.processes


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "words", [("keys", "create", "ann"), ("keys", "create", "ann", "--json"), ("--help",), ("chat", "--help")]
)
def test_a_full_output_is_told_as_such(tmp_path: Path, words: tuple[str, ...]) -> None:
    env = environment(tmp_path)
    made = [sys.executable, *CLI, *words]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            made,
            env=env,
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "Error [storage_full]: There is no room for what is to be stored (No space left on device). Free some space and try again."
    ]
