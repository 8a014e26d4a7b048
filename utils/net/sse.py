"""Where the events of a stream of Server-Sent Events end.

The parsers of libraries hold an event as a whole before they say that it is there. Whoever bounds or checks events has to see them earlier.
"""

from __future__ import annotations

import re

MEDIA_TYPE = "text/event-stream"

_END = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LONGEST_END = 4


class EventEnds:
    """Finds the ends of events in a stream that comes in pieces."""

    def __init__(self) -> None:
        self._tail = b""
        """The last bytes that may begin an end."""

    def of(self, piece: bytes) -> list[int]:
        """The places in the next piece, each behind an event and its blank line. An end may begin in the piece before."""
        seen, before = self._tail + piece, len(self._tail)
        ends = [found.end() for found in _END.finditer(seen)]
        begin = ends[-1] if ends else 0
        self._tail = seen[max(begin, len(seen) - _LONGEST_END + 1) :]
        return [end - before for end in ends]
