"""One result of a check of `doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """What a result means for who reads it."""

    OK = "ok"
    NOTE = "note"
    """Worth knowing, and not wrong."""
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One result."""

    check: str
    level: Level
    message: str
