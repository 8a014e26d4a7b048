"""What a check found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Result:
    """The end of one check.

    Attributes:
        told: What holds, or is left to do by hand on the day.
        problems: What does not hold, each with its way out; none is good.
    """

    told: str = ""
    problems: Sequence[str] = ()
