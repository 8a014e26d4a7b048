"""Marks of the artifacts of a remote task, by which a later question of it tells which ones are new. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from utils.a2a_common.client.delegation.part_text import joined, said
from utils.events import ContentPart

_DIGITS = 16


def seen_artifact(key: str, parts: Iterable[ContentPart]) -> str:
    """A short mark of an artifact and of all that it says."""
    return hashlib.sha256(f"{key}\n{joined(map(said, parts))}".encode()).hexdigest()[:_DIGITS]
