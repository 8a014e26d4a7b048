"""Digests of a remote task's artifacts, which show at a later question which artifacts are new. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from utils.a2a_common.client.delegation.part_text import joined, piece_of
from utils.events import ContentPart

_DIGITS = 16


def seen_artifact(key: str, parts: Iterable[ContentPart]) -> str:
    """A short digest of an artifact's id and content."""
    return hashlib.sha256(f"{key}\n{joined(map(piece_of, parts))}".encode()).hexdigest()[:_DIGITS]
