"""What one memory is. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

LONGEST = 400
"""Most characters of a fact or a rule."""


class MemoryKind(StrEnum):
    """The kinds of memories, which are namespaces of the store."""

    FACT = "facts"
    """What is true of the user, or preferred by them."""
    PROCEDURE = "procedures"
    """How things shall be done for them."""
    EPISODE = "episodes"
    """What one conversation was about."""


NAMES = {MemoryKind.FACT: "fact", MemoryKind.PROCEDURE: "rule", MemoryKind.EPISODE: "conversation"}
"""The kinds as people are told of them."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory of a user.

    Attributes:
        id: Tells it from the user's others.
        kind: What it is.
        text: The user's words, or the summary of a conversation; empty where it cannot be read.
        updated: When it was said last, in seconds since 1970.
        score: How well it fits what was searched for.
    """

    id: str
    kind: MemoryKind
    text: str
    updated: float
    score: float = 0.0

    @property
    def day(self) -> str:
        """The day on which it was said last, in UTC."""
        return datetime.fromtimestamp(self.updated, UTC).date().isoformat()


def owner_label(tenant: str, user: str) -> str | None:
    """The store's label of a user; `None` for a caller without a name, of whom nothing is kept.

    Callers without a name cannot be told apart, so that a memory of one would be shown to all. A digest, since labels of
    LangGraph's stores may hold no dots.
    """
    if not user:
        return None
    text = f"{len(tenant)}:{tenant}{len(user)}:{user}"
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def one_line(text: str) -> str:
    """A text without line breaks, of at most `LONGEST` characters."""
    return " ".join(text.split())[:LONGEST].rstrip()


def is_off(value: Mapping[str, Any]) -> bool:
    """Whether a stored value stands for a conversation of which no summary may be kept."""
    return bool(value.get("off"))
