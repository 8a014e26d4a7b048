"""Replaces what is no text in the JSON of a server: lone surrogates, and bytes that are not UTF-8. Pure.

The parser of the MCP package refuses the whole message otherwise: one such character in one description would cost all tools of
the server, and in a result it would cost the answer to a call that was carried out.
"""

from __future__ import annotations

import re

_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_REPLACEMENT = rb"\\ufffd"
"""The escape of U+FFFD, as `re.sub` takes it."""
_BACKSLASH, _SET_ASIDE = rb"\\", b"\x00\x01"
"""An escaped backslash, which begins no other escape, and what stands for it meanwhile: JSON allows no control characters."""


def repaired(message: bytes) -> bytes:
    """The JSON of a message in which each lone surrogate and each byte that is not UTF-8 is U+FFFD."""
    if _LONE_SURROGATE.search(message):
        aside = message.replace(_BACKSLASH, _SET_ASIDE)
        message = _LONE_SURROGATE.sub(_REPLACEMENT, aside).replace(_SET_ASIDE, _BACKSLASH)
    try:
        message.decode()
    except UnicodeDecodeError:
        return message.decode(errors="replace").encode()
    return message
