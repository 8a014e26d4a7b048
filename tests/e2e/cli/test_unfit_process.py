"""An agent that could not work in its process does not start, and says why in one sentence."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

from utils.processes.open_files import FEW, LEAST

SERVE = ["-m", "utils.a2a_common.server.serve", "agents.template.agent:TemplateAgent", "--port", "0"]


def refused(folder: Path, *options: str, files: int = LEAST) -> tuple[int, str]:
    """The exit code and the last line of an agent that is started so, with this limit of open files."""
    ended = subprocess.run(
        [sys.executable, *options, *SERVE],
        env={**os.environ, "PLATFORM_ENGINEER_HOME": str(folder)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return ended.returncode, ended.stderr.splitlines()[-1]


def test_an_agent_that_could_take_no_connection_does_not_start(tmp_path: Path) -> None:
    few = LEAST - 1
    assert refused(tmp_path, files=few) == (
        2,
        f"This process may open {few} files, and needs at least {LEAST}. Raise the limit of open files: ulimit -n {FEW}",
    )


def test_an_agent_without_docstrings_which_describe_its_tools_does_not_start(tmp_path: Path) -> None:
    assert refused(tmp_path, "-OO") == (
        2,
        "PYTHONOPTIMIZE=2 removes docstrings, by which models choose tools, so no agent can start. Unset it, or set 1.",
    )
