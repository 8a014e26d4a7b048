"""Whether an agent can take work, and what it is busy with while it cannot."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Readiness:
    """Answer of `/readyz`. `detail` is a short phrase for people: "ingesting 3 of 12 documents"."""

    ready: bool
    detail: str = ""
