"""A copy of the checkout that blocks may write to: links to the code, files of its own where it grows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.docs.blocks import ROOT, Block

_LINKED = ("utils", "multi_agents", "docs", "README.md", "pyproject.toml", "Makefile")


@dataclass
class Checkout:
    """The copy. `replaced` maps the addresses of the documentation to those of a running stack."""

    folder: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    replaced: Mapping[str, str] = field(default_factory=dict)

    def make(self) -> Checkout:
        """Fill the folder."""
        for name in _LINKED:
            (self.folder / name).symlink_to(ROOT / name)
        agents = self.folder / "agents"
        agents.mkdir()
        for path in (ROOT / "agents").iterdir():
            if path.name == "agents.yaml":
                (agents / path.name).write_text(path.read_text("utf-8"))
            elif path.suffix != ".pyc" and path.name != "__pycache__":
                (agents / path.name).symlink_to(path)
        return self

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
            command = (
                [sys.executable, "-c"] if block.language == "python" else ["bash", "-euo", "pipefail", "-c"]
            )
            self._run([*command, text], str(block))

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        assert path.resolve().is_relative_to(self.folder.resolve()), f"{name} leaves the copy"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def _run(self, command: list[str], name: str) -> None:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environ = {**os.environ, "PYTHONPATH": str(self.folder), "PATH": path, **self.environ}
        done = subprocess.run(
            command, cwd=self.folder, env=environ, capture_output=True, text=True, timeout=110, check=False
        )
        assert done.returncode == 0, f"{name} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
