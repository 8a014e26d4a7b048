"""Times of a task's status without a zone, as some agents send them, read as UTC. Pure.

The specification demands UTC with a `Z` (5.6.1), so that such a time cannot be in any other zone; a parser of
protocol buffers refuses it. Only the timestamp of a status is touched: other values under that name are the agent's data.
"""

from __future__ import annotations

import re

_NO_ZONE = re.compile(rb'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?"')
_SUSPECT = re.compile(rb'"timestamp"\s{0,20}:\s{0,20}' + _NO_ZONE.pattern)
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\]:,]', re.DOTALL)
_ABOVE = frozenset(
    {
        b"",
        b'"result"',
        b'"task"',
        b'"tasks"',
        b'"statusUpdate"',
        b'"status_update"',
        b'"status"',
    }
)
"""What may hold a status, from the outside in; an answer's own fields are named by the protocol, as these are."""

_DEEPEST = 6
"""Most objects and lists around a time, its status among them: the outermost, `result`, `tasks`, a task, `status`, and one to spare."""


def in_utc(body: bytes) -> bytes:
    """A JSON body, or events of a stream of such, in which each time of a status has a zone."""
    if _SUSPECT.search(body) is None:
        return body
    ends = _ends(body)
    pieces = [body[begin:end] for begin, end in zip([0, *ends], [*ends, len(body)], strict=True)]
    return b"Z".join(pieces)


def _ends(body: bytes) -> list[int]:
    """Where each time of a status without a zone ends, before its closing quote."""
    ends: list[int] = []
    holders: list[bytes] = []
    key = last = b""
    for found in _TOKEN.finditer(body):
        token = found[0]
        match token:
            case b"{" | b"[":
                holders.append(key)
                key = b""
            case b"}" | b"]":
                del holders[-1:]
                key = b""
            case b":":
                key = last
            case b",":
                key = b""
            case _ if key == b'"timestamp"' and holders and _of_status(holders) and _NO_ZONE.fullmatch(token):
                ends.append(found.end() - 1)
        last = token if token[:1] == b'"' else b""
    return ends


def _of_status(holders: list[bytes]) -> bool:
    return len(holders) <= _DEEPEST and holders[-1] == b'"status"' and _ABOVE.issuperset(holders)
