"""Keeps checkpoint IDs increasing, whatever the clock says.

LangGraph finds the latest checkpoint of a conversation by its ID, a UUID of version 6, which is ordered by the clock. If a clock was set
back, or that of another replica is some seconds behind, new checkpoints would sort before the one that they follow. They would never be
read again, and their messages would be lost.
"""

from __future__ import annotations

from langgraph.checkpoint.base import id as ids

_VERSION = 6


def go_on_after(checkpoint_id: str) -> None:
    """Make each ID that this process creates from now on sort after `checkpoint_id`.

    An ID that is not a UUID of version 6 has no time and changes nothing.
    """
    try:
        read = ids.UUID(hex=checkpoint_id)
    except ValueError:
        return
    if read.version == _VERSION:
        last = ids._last_v6_timestamp or 0  # noqa: SLF001 - LangGraph offers no public way
        ids._last_v6_timestamp = max(read.time, last)  # type: ignore[assignment] # noqa: SLF001
