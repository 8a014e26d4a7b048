"""An extension's request and response in data parts, each under the extension's URI. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class MalformedRequest(ValueError):
    """A request that cannot be understood; its text is for the client."""


def request_in(data: Iterable[Mapping[str, Any]], uri: str) -> Mapping[str, Any] | None:
    """The extension's request in data parts; `None` if there is none.

    Raises:
        MalformedRequest: It is no object.
    """
    payload = next((part[uri] for part in data if uri in part), None)
    if payload is not None and not isinstance(payload, Mapping):
        raise MalformedRequest(f"{uri} must be an object.")
    return payload


def answer_in(data: Iterable[object], uri: str) -> Mapping[str, Any] | None:
    """The extension's response in the data parts of a peer's message; `None` if there is none."""
    for part in data:
        payload = part.get(uri) if isinstance(part, Mapping) else None
        if isinstance(payload, Mapping):
            return payload
    return None
