"""Which protocol version a call speaks: what it stores for later is answered in the same one."""

from __future__ import annotations

from a2a.server.context import ServerCallContext

CURRENT = "1.0"
LEGACY = "0.3"

_SPOKEN = "a2a_version"


def note_version(call: ServerCallContext, version: str) -> None:
    """Keep with a call which version it speaks, `CURRENT` or `LEGACY`."""
    call.state[_SPOKEN] = version


def version_of(call: ServerCallContext) -> str:
    """The version that a call speaks; `CURRENT` for one that did not come over the network."""
    return str(call.state.get(_SPOKEN, CURRENT))
