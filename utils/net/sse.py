"""Finds where events end in a stream of Server-Sent Events.

The parsers of libraries buffer an event completely before they report it. Code that limits or checks events has to see them earlier.
"""

from __future__ import annotations

import re

MEDIA_TYPE = "text/event-stream"

_END = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LONGEST_END = 4


class EventEnds:
    """Finds the ends of events in a stream of chunks."""

    def __init__(self) -> None:
        self._tail = b""
        """The last bytes, which may be the beginning of a blank line."""

    def of(self, chunk: bytes) -> list[int]:
        """The offsets in the next chunk that follow an event's blank line. A blank line may begin in the chunk before."""
        seen, before = self._tail + chunk, len(self._tail)
        ends = [found.end() for found in _END.finditer(seen)]
        begin = ends[-1] if ends else 0
        self._tail = seen[max(begin, len(seen) - _LONGEST_END + 1) :]
        return [end - before for end in ends]
