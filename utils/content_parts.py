"""The parts of an artifact or a message: text, a file as bytes or URL, data.

Each has `metadata`, a JSON object of its sender. It is passed on with the part, and is never shown to a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text, as a part of an artifact or of a message."""

    text: str
    media_type: str = "text/markdown"
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class FileBytes:
    """A file with its content. The content is left out of `repr`, so that no log shows it."""

    content: bytes = field(repr=False)
    name: str
    media_type: str = "application/octet-stream"
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class FileUrl:
    """A file at a URL. It is passed on without being fetched."""

    url: str
    name: str = ""
    media_type: str = "application/octet-stream"
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class DataPart:
    """A JSON value of any type: an object, a list, a string, a number, a boolean or null."""

    value: Any
    media_type: str = "application/json"
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)


ContentPart = TextPart | FileBytes | FileUrl | DataPart
"""What artifacts and messages are made of, in both directions."""
