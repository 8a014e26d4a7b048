"""A copy of the checkout that may be broken."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.broken_rules.judge import Outcome, outcomes
from tests.broken_rules.product import Product
from tests.broken_rules.rules import Edit
from tests.style.sources import ROOT, tracked_files

BASELINE_SECONDS = 1800.0
"""Longest run of all named tests together, on a machine that has much else to do."""


BUILD_SECONDS = 600.0
"""Longest build of the page, with the packages that it installs first."""

_PAGE = "multi_agents/web/"
_BUILT = "utils/web/built"


class DoesNotEnd(Exception):
    """The tests did not end by themselves."""


class Copy:
    """The files that are or may be committed, in a folder of their own, on the running interpreter."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._verdict = folder.parent / "verdict.jsonl"
        self._libraries = folder.parent / "libraries.json"
        self._output = folder.parent / "output.txt"
        self._page = folder.parent / "page"
        self._clock = itertools.count(int(time.time()) + 10, 10)
        self._worker: subprocess.Popen[str] | None = None

    @classmethod
    @contextmanager
    def made_in(cls, folder: Path) -> Iterator[Copy]:
        """A copy below `folder`."""
        copied = folder / "checkout"
        for path in tracked_files():
            target = copied / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
        copy = cls(copied)
        try:
            yield copy
        finally:
            copy._stop()

    @contextmanager
    def with_edits(self, edits: Sequence[Edit]) -> Iterator[None]:
        """The copy with these edits, as long as the context lasts. `complaints` builds an edited page.

        Raises:
            Lost: The code that an edit replaces stands nowhere, or not once.
        """
        changed = Product(self._folder).broken(edits)
        before = {file: (self._folder / file).read_text("utf-8") for file in changed}
        try:
            for file, text in changed.items():
                self._write(file, text)
            yield
        finally:
            for file, text in before.items():
                self._write(file, text)
            self._put_back_page()

    def complaints(self, files: Sequence[str]) -> str:
        """What makes the edited files no program: wrong syntax, names that do not exist. Empty when all is well.

        Where they are sources of the page, they are built: tests of the page run what was built.
        """
        if any(name.startswith(_PAGE) for name in files) and (wrong := self._build_page()):
            return wrong
        checked = [name for name in files if name.endswith(".py")]
        if not checked:
            return ""
        command = [sys.executable, "-m", "ruff", "check", "-q", "--isolated", "--select", "E9,F821,F823"]
        done = self._run([*command, "--output-format", "concise", *checked])
        return done.stdout.strip() if done.returncode else ""

    def _build_page(self) -> str:
        """Build the page of the sources that stand in the copy; gives what is wrong with them, empty for nothing."""
        shutil.copytree(self._folder / _BUILT, self._page)
        done = self._run([sys.executable, "-m", "tests.e2e.web.npm"], seconds=BUILD_SECONDS)
        return done.stderr.strip()[-1000:] if done.returncode else ""

    def _put_back_page(self) -> None:
        if self._page.exists():
            shutil.rmtree(self._folder / _BUILT, ignore_errors=True)
            self._page.rename(self._folder / _BUILT)

    def run_unbroken(self, tests: Sequence[str]) -> list[Outcome]:
        """What becomes of these tests in a process of its own, which also tells what is imported for them."""
        arguments = [*self._arguments(tests), "--libraries", str(self._libraries)]
        done = self._run([sys.executable, "-m", "pytest", *arguments], seconds=BASELINE_SECONDS)
        return outcomes(self._verdict, done.stdout + done.stderr)

    def run_tests(self, tests: Sequence[str]) -> list[Outcome]:
        """What becomes of each of these tests now.

        Raises:
            DoesNotEnd: They were still running after the worker's longest time.
        """
        order = {"arguments": self._arguments(tests), "output": str(self._output)}
        worker = self._worker or self._start()
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(json.dumps(order) + "\n")
        worker.stdin.flush()
        if int(worker.stdout.readline()) < 0:
            raise DoesNotEnd("the tests do not end")
        return outcomes(self._verdict, self._output.read_text("utf-8", "replace"))

    def _arguments(self, tests: Sequence[str]) -> list[str]:
        self._verdict.unlink(missing_ok=True)
        plugin = ["-p", "tests.broken_rules.verdict", "--verdict", str(self._verdict)]
        # pytest says of plugins that came with the worker's imports that it cannot rewrite their asserts.
        return [*plugin, "-W", "ignore::pytest.PytestAssertRewriteWarning", "--timeout", "110", *tests]

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.broken_rules.worker", str(self._libraries)]
        self._worker = subprocess.Popen(
            command, cwd=self._folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self._worker

    def _stop(self) -> None:
        if self._worker is not None and self._worker.stdin is not None:
            self._worker.stdin.close()
            self._worker.wait()

    def _write(self, name: str, text: str) -> None:
        """Write a file with a time that no version of it had: Python knows its bytecode by that."""
        path = self._folder / name
        path.write_text(text, "utf-8")
        moment = next(self._clock)
        os.utime(path, (moment, moment))

    def _run(self, command: Sequence[str], seconds: float = 60) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self._folder, capture_output=True, text=True, timeout=seconds, check=False
        )
