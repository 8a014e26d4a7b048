"""One result of a check of `doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """One result. `note` is worth knowing and not wrong."""

    check: str
    level: Literal["ok", "note", "wrong"]
    message: str
