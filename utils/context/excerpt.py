"""Shortens a text to its head and tail, with a handle of the full text between them. Pure."""

from __future__ import annotations

from utils.context.protocols import TokenCounter

HEAD_SHARE = 0.4
"""Share of the head in an excerpt. The tail gets more, since a log ends with the error."""

_MARKER_CHARS = 120
_BYTES_PER_TOKEN = 6


def left_out(characters: int, handle: str) -> str:
    """The line that replaces the part left out."""
    return f'\n[… {characters:,} characters left out; read_tool_output("{handle}") reads the whole text …]\n'


def excerpt_chars(text: str, max_chars: int, handle: str) -> str:
    """The text itself, or its head and tail in at most `max_chars` characters, marker included."""
    if len(text) <= max_chars:
        return text
    return _head_and_tail(text, max(0, max_chars - _MARKER_CHARS), handle)


def excerpt_tokens(text: str, max_tokens: int, handle: str, counter: TokenCounter) -> str:
    """The text itself, or its head and tail in at most `max_tokens` tokens, marker included.

    If not even the marker fits, only the marker is returned, which has about thirty tokens.
    """
    if len(text) <= max_tokens // 4 or (len(text) < max_tokens * 40 and counter.text(text) <= max_tokens):
        return text
    room = max_tokens - counter.text(left_out(len(text), handle)) - 2
    keep = max(0, min(len(text), room * _BYTES_PER_TOKEN))
    while keep > 0:
        excerpt = _head_and_tail(text, keep, handle)
        cost = counter.text(excerpt)
        if cost <= max_tokens:
            return excerpt
        keep = int(keep * min(0.9, max_tokens / cost * 0.97))
        keep = 0 if keep < 8 else keep  # noqa: PLR2004 - a few letters are of no use
    return _head_and_tail(text, 0, handle)


def _head_and_tail(text: str, keep: int, handle: str) -> str:
    keep = min(keep, len(text))
    head = int(keep * HEAD_SHARE)
    tail = keep - head
    return text[:head] + left_out(len(text) - keep, handle) + (text[-tail:] if tail else "")
