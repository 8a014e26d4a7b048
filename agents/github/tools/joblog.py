"""Parses a job's log line by line: its tail, and the place of the failure. Pure, with limited memory."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

_STAMP = re.compile(r"^\ufeff?(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.\d+)?Z ?")
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\ufeff")
_ERROR = "##[error]"
_BEFORE = 25
"""Lines kept before the last error."""
_AFTER = 3
"""Lines kept after it."""
_MAX_ERRORS = 10
_LONGEST_LINE = 400
"""Characters kept of one line."""
_END_SLACK = timedelta(seconds=1)
"""Tolerance for the end of a step, which is given in whole seconds."""


@dataclass(frozen=True, slots=True)
class Window:
    """When the failed step ran."""

    start: datetime
    end: datetime

    def holds(self, stamp: datetime) -> bool:
        """Whether a line with that time belongs to the step."""
        return self.start <= stamp < self.end + _END_SLACK


@dataclass(slots=True)
class JobLog:
    """Collects the relevant lines of a log, line by line with `add`.

    Attributes:
        tail_lines: How many of the last lines to keep.
        window: When the failed step ran; errors outside of it do not count.
        lines: Lines seen.
        errors: Messages that the runner marked as errors.
        excerpt: The lines around the last of them.
    """

    tail_lines: int
    window: Window | None = None
    lines: int = 0
    errors: list[str] = field(default_factory=list)
    excerpt: list[str] = field(default_factory=list)
    tail: deque[str] = field(init=False)
    _before: deque[str] = field(default_factory=lambda: deque(maxlen=_BEFORE))
    _after: int = 0
    _inside: bool = True

    def __post_init__(self) -> None:
        self.tail = deque(maxlen=self.tail_lines)

    def add(self, raw: str) -> None:
        """Add the next line."""
        self._follow_clock(raw)
        line = clean(raw)
        self.lines += 1
        self.tail.append(line)
        if not self._inside:
            return
        if line.startswith(_ERROR):
            self._add_error(line.removeprefix(_ERROR))
        elif self._after:
            self._after -= 1
            self.excerpt.append(line)
        self._before.append(line)

    def _add_error(self, message: str) -> None:
        if message not in self.errors and len(self.errors) < _MAX_ERRORS:
            self.errors.append(message)
        self.excerpt = [*self._before, f"{_ERROR}{message}"]
        self._after = _AFTER

    def _follow_clock(self, raw: str) -> None:
        """Lines without a time belong to the line before them."""
        found = _STAMP.match(raw)
        if self.window is not None and found:
            self._inside = self.window.holds(datetime.fromisoformat(f"{found[1]}+00:00"))


def clean(raw: str) -> str:
    """A line without its time and colours, truncated."""
    return _ANSI.sub("", _STAMP.sub("", raw[: _LONGEST_LINE * 2]))[:_LONGEST_LINE]


def window_of(started: object, completed: object) -> Window | None:
    """The window between two ISO times of GitHub; `None` if one is missing or invalid."""
    if not isinstance(started, str) or not isinstance(completed, str):
        return None
    try:
        start, end = datetime.fromisoformat(started), datetime.fromisoformat(completed)
    except ValueError:
        return None
    if start.tzinfo is None or end.tzinfo is None:
        return None
    return Window(start, end)
