"""The protocol version of a call, which later responses to what it stored use too."""

from __future__ import annotations

from a2a.server.context import ServerCallContext

CURRENT = "1.0"
LEGACY = "0.3"

_SPOKEN = "a2a_version"


def note_version(call: ServerCallContext, version: str) -> None:
    """Store the protocol version of a call, `CURRENT` or `LEGACY`, with it."""
    call.state[_SPOKEN] = version


def version_of(call: ServerCallContext) -> str:
    """The protocol version of a call; `CURRENT` for one that did not come over the network."""
    return str(call.state.get(_SPOKEN, CURRENT))
