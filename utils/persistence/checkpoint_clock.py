"""Ids of checkpoints that are later than those that they follow, whatever the clock says.

LangGraph finds the latest checkpoint of a conversation by its id, a UUID of version 6, whose order is that of the clock. A clock that was set
back, or that of another replica, which is some seconds behind, would write checkpoints that are older than the one that they follow, and that
nobody reads again: their messages would be lost.
"""

from __future__ import annotations

from langgraph.checkpoint.base import id as ids

_VERSION = 6


def go_on_after(checkpoint_id: str) -> None:
    """Let each id that this process makes from now on be later than one that it has read.

    An id that is no UUID of version 6 has no time and changes nothing.
    """
    try:
        read = ids.UUID(hex=checkpoint_id)
    except ValueError:
        return
    if read.version == _VERSION:
        last = ids._last_v6_timestamp or 0  # noqa: SLF001 - LangGraph has no other way to tell its clock
        ids._last_v6_timestamp = max(read.time, last)  # type: ignore[assignment] # noqa: SLF001
