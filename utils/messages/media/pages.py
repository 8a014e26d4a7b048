"""The number of pages of a PDF, without a parser: its page objects are counted. Pure."""

from __future__ import annotations

import re
import zlib
from itertools import islice

BYTES_PER_PAGE = 2_000
"""Least bytes of a page, for a file in which no page is found, such as an encrypted one."""

MOST_PAGES = 1_000
"""Highest count that is believed. No provider takes a longer document."""

_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_NODE = re.compile(rb"/Type\s*/Pages\b")
_COUNT = re.compile(rb"/Count\s+(\d{1,6})")
_MOST_NODES = 2_000
"""Nodes of the tree of pages that are looked at: more than a document of `MOST_PAGES` has."""
_NEAR = 400
"""Bytes around the type of a node, or of a stream of objects, in which its other entries stand."""
_OBJECTS = re.compile(rb"/Type\s*/ObjStm\b")
_BEGIN = re.compile(rb"stream\r?\n")
_MOST_UNPACKED = 4_000_000
_MOST_STREAMS = 500
_PIECE = 16_384
"""Bytes that are unpacked at once. The library copies what it leaves of them."""


def pdf_pages(content: bytes) -> int:
    """Pages of a PDF, at least 1. Object streams are unpacked up to a limit, so that a small file cannot use much memory."""
    found, most, left, unread = _counted(content), _declared(content), _MOST_UNPACKED, len(content)
    for objects in islice(_OBJECTS.finditer(content), _MOST_STREAMS):
        stream = _BEGIN.search(content, objects.end(), objects.end() + _NEAR)
        if stream is None or left <= 0 or unread <= 0:
            continue
        unpacked, read = _unpacked(memoryview(content)[stream.end() :][:unread], left)
        left, unread = left - len(unpacked), unread - read
        found, most = found + _counted(unpacked), max(most, _declared(unpacked))
    pages = max(found, most) or len(content) // BYTES_PER_PAGE
    return min(max(pages, 1), MOST_PAGES)


def _counted(content: bytes) -> int:
    return sum(1 for _ in _PAGE.finditer(content))


def _declared(content: bytes) -> int:
    """The largest count of a node of the tree, among those that are believed."""
    counts = (
        int(one)
        for node in islice(_NODE.finditer(content), _MOST_NODES)
        for one in _COUNT.findall(_beside(content, *node.span()))
    )
    return max((count for count in counts if count <= MOST_PAGES), default=0)


def _beside(content: bytes, start: int, end: int) -> bytes:
    """The entries of a node beside its type: up to where its dictionary, or one in it, begins or ends."""
    before = re.split(rb"[<>]", content[max(start - _NEAR, 0) : start])[-1]
    return before + b" " + re.split(rb"[<>]", content[end : end + _NEAR], maxsplit=1)[0]


def _unpacked(packed: memoryview, most: int) -> tuple[bytes, int]:
    """What a stream that begins here holds, up to a size, and how many bytes were read for it."""
    stream, found, left, read = zlib.decompressobj(), list[bytes](), most, 0
    try:
        while read < len(packed) and left > 0 and not stream.eof:
            piece = packed[read : read + _PIECE]
            read += len(piece)
            found.append(stream.decompress(piece, left))
            left -= len(found[-1])
    except zlib.error:
        return b"", read
    return b"".join(found), read
