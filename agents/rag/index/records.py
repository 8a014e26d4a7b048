"""What an index says of its documents and passages, wherever it is kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stored:
    """What is known of an ingested document."""

    location: str
    source: str
    title: str
    hash: str
    recipe: str
    passages: int


@dataclass(frozen=True, slots=True)
class Stale:
    """A passage whose vector is missing or of another model."""

    chunk_id: int
    title: str
    heading: str
    body: str
