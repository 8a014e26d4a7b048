"""A copy of the checkout that blocks may write to."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from docs.make_configuration import groups
from multi_agents.cli.scaffold.yaml_edits import remove_key
from tests.docs.blocks import ROOT, Block
from tests.ports import move_to_free_ports
from tests.preloaded import process as preloaded
from utils.settings_docs import settings_of

COPIED = ("utils", "multi_agents", "agents", "benchmarks", "docs", "README.md", "pyproject.toml", "Makefile")
VENV = Path(sys.executable).parent.parent
SECONDS = 280
"""Longest time of one block: what takes longer hangs."""


PYTHON = """#!/bin/sh
case "$1" in
    -m | -c) exec {attach} "$@" ;;
    -) exec {attach} -c "$(cat)" ;;
esac
exec {python} "$@"
"""
COMMAND = """#!/bin/sh
exec {attach} -m multi_agents.cli "$@"
"""
"""What `python` and `platform-engineer` are for a block: forked from an interpreter that has imported the libraries. `make chat` starts
the command as it is installed."""


@dataclass
class Checkout:
    """The copy. `replaced` maps words of the documentation to those that hold here, such as addresses."""

    folder: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    replaced: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def make(cls, folder: Path) -> Checkout:
        """A copy in a new folder, on the virtual environment of this process, with its own data."""
        folder.mkdir()
        for name in COPIED:
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy2)(source, folder / name)
        _without_the_walk(folder / "agents")
        move_to_free_ports(folder)
        (folder / ".venv").symlink_to(VENV)
        (folder / ".data").mkdir(mode=0o700)  # a service has run here: there is data to copy
        _write_words(folder.with_name("words"))
        return cls(
            folder,
            {
                "PLATFORM_ENGINEER_HOME": str(folder / ".data"),
                "RAG_SOURCES": "docs/add-an-agent.md,docs/offline-model.md",
            },
        )

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a process that runs in the copy: none of our settings but its own."""
        path = f"{self.folder.with_name('words')}{os.pathsep}{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"
        ours = {one.variable for group in groups() for one in settings_of(group)}
        outer = {name: value for name, value in os.environ.items() if name not in ours}
        # A test run of its own would remove the folders of earlier runs at its end, which takes minutes on a slow disk.
        own = {"PYTHONPATH": str(self.folder), "PATH": path, "PYTEST_DEBUG_TEMPROOT": str(self.folder.parent)}
        return {**outer, **own, **self.environ}

    def play(self, block: Block) -> None:
        """Write or run one block.

        Raises:
            AssertionError: It ended with another code than 0; carries its output.
        """
        text = block.text
        for old, new in self.replaced.items():
            text = text.replace(old, new)
        if "file" in block.options:
            self._write(block.options["file"], text)
        elif "append" in block.options:
            with (self.folder / block.options["append"]).open("a") as file:
                file.write("\n" + text)
        elif "no-run" not in block.options and block.language in {"python", "bash"}:
            run = self._python if block.language == "python" else self._shell
            done = run(text)
            printed = done.stdout + done.stderr
            assert done.returncode == 0, f"{block} ended with {done.returncode}:\n{printed}"
            assert block.options.get("expect", "") in printed, f"{block} printed:\n{printed}"

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        assert path.resolve().is_relative_to(self.folder.resolve()), f"{name} leaves the copy"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def _python(self, code: str) -> subprocess.CompletedProcess[str]:
        return preloaded.run(["-c", code], cwd=self.folder, env=self.environment, timeout=SECONDS)

    def _shell(self, code: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", code],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,  # an interactive chat ends at once
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )


def _write_words(folder: Path) -> None:
    if not preloaded.forks(os.environ):
        return
    folder.mkdir()
    attach = shlex.join(preloaded.attaching())
    for name, text in (("python", PYTHON), ("platform-engineer", COMMAND)):
        (folder / name).write_text(text.format(attach=attach, python=shlex.quote(sys.executable)), "utf-8")
        (folder / name).chmod(0o755)


def _without_the_walk(agents: Path) -> None:
    """Take out the agent that docs/add-an-agent.md makes, where somebody has followed it."""
    shutil.rmtree(agents / "incidents", ignore_errors=True)
    listed = agents / "agents.yaml"
    text = listed.read_text("utf-8")
    if "\nincidents:" in text:
        listed.write_text(remove_key(text, "incidents"), "utf-8")
