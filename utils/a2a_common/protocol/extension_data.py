"""The data parts of an extension that a message asks by, and the answer to it: each stands under the extension's URI. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class MalformedRequest(ValueError):
    """A request that cannot be understood; its text is for the client."""


def request_in(data: Iterable[Mapping[str, Any]], uri: str) -> Mapping[str, Any] | None:
    """What data parts ask of the extension; `None` if nothing.

    Raises:
        MalformedRequest: It is no object.
    """
    told = next((part[uri] for part in data if uri in part), None)
    if told is not None and not isinstance(told, Mapping):
        raise MalformedRequest(f"{uri} must be an object.")
    return told


def answer_in(data: Iterable[object], uri: str) -> Mapping[str, Any] | None:
    """The answer in the data parts of a peer's message; `None` where it has none."""
    for part in data:
        told = part.get(uri) if isinstance(part, Mapping) else None
        if isinstance(told, Mapping):
            return told
    return None
