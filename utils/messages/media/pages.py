"""The number of pages of a PDF, without a parser: its page objects are counted. Pure."""

from __future__ import annotations

import re
import zlib

BYTES_PER_PAGE = 2_000
"""Least bytes of a page, for a file in which no page is found, such as an encrypted one."""

MOST_PAGES = 1_000
"""Highest count that is believed. No provider takes a longer document."""

_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_COUNT = re.compile(
    rb"/Type\s*/Pages\b[^<>]{0,400}?/Count\s+(\d{1,6})|/Count\s+(\d{1,6})[^<>]{0,400}?/Type\s*/Pages\b"
)
_OBJECTS = re.compile(rb"/Type\s*/ObjStm\b.{0,400}?stream\r?\n", re.DOTALL)
_MOST_UNPACKED = 4_000_000
_MOST_STREAMS = 500


def pdf_pages(content: bytes) -> int:
    """Pages of a PDF, at least 1. Object streams are unpacked up to a limit, so that a small file cannot use much memory."""
    found, most, left = _counted(content), _declared(content), _MOST_UNPACKED
    for number, stream in enumerate(_OBJECTS.finditer(content)):
        if left <= 0 or number >= _MOST_STREAMS:
            break
        unpacked = _unpacked(content, stream.end(), left)
        left -= len(unpacked)
        found, most = found + _counted(unpacked), max(most, _declared(unpacked))
    pages = max(found, most) or len(content) // BYTES_PER_PAGE
    return min(max(pages, 1), MOST_PAGES)


def _counted(content: bytes) -> int:
    return sum(1 for _ in _PAGE.finditer(content))


def _declared(content: bytes) -> int:
    counts = (int(one.group(1) or one.group(2)) for one in _COUNT.finditer(content))
    return max((count for count in counts if count <= MOST_PAGES), default=0)


def _unpacked(content: bytes, start: int, most: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(content[start:], most)
    except zlib.error:
        return b""
