"""Whether a test went red because the product behaves differently, and not because it no longer is a program."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NO_PROGRAM = frozenset(
    {"CollectError", "ImportError", "ModuleNotFoundError", "SyntaxError", "NameError", "UnboundLocalError"}
)
_CRASH = re.compile(
    r"^[ \t]*((?:ImportError|ModuleNotFoundError|SyntaxError|NameError|UnboundLocalError|AttributeError"
    r"|TypeError): .*)",
    re.MULTILINE,
)
_FRAME = re.compile(r'File "([^"]+)", line')


@dataclass(frozen=True)
class Outcome:
    """What became of one test.

    Attributes:
        test: Its node id without parameters.
        passed: Whether it passed.
        error: Name of the exception's type that ended it.
        reason: First line of the exception.
        said: What the test and the servers in it printed and logged.
    """

    test: str
    passed: bool
    error: str = ""
    reason: str = ""
    said: str = ""

    @property
    def crash(self) -> str:
        """The programming error that this test met, in itself or in a server's log; empty for none."""
        if self.error in NO_PROGRAM:
            return f"{self.error}: {self.reason}"
        if self.passed:
            return ""
        return next(
            (found[1] for found in _CRASH.finditer(self.said) if _is_ours(self.said, found.start())), ""
        )


def _is_ours(said: str, end: int) -> bool:
    """Whether the traceback that ends here ended in the project: a library may choke on what it gets."""
    frames = _FRAME.findall(said, 0, end)
    return not frames or "site-packages" not in frames[-1]


def outcomes(verdict: Path, printed: str) -> list[Outcome]:
    """The outcomes that the plugin wrote; one failed one where pytest itself did not come that far."""
    if not verdict.exists():
        return [Outcome("", passed=False, error="CollectError", reason=printed[-300:])]
    lines = [json.loads(line) for line in verdict.read_text("utf-8").splitlines()]
    return [
        Outcome(line["test"], line["outcome"] == "passed", line["error"], line["reason"], line["said"])
        for line in lines
    ]


def unnoticed(tests: Sequence[str], found: Sequence[Outcome]) -> list[str]:
    """The tests that should be red and are not."""
    red = {outcome.test for outcome in found if not outcome.passed}
    return [test for test in tests if test not in red]


def crash(found: Sequence[Outcome]) -> str:
    """The first programming error among the outcomes; empty for none."""
    return next((outcome.crash for outcome in found if outcome.crash), "")
