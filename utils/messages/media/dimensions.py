"""Width and height of a picture, from the header of its file: PNG, JPEG, GIF and WebP. Pure."""

from __future__ import annotations

import struct
from typing import NamedTuple


class Size(NamedTuple):
    """Width and height in pixels."""

    width: int
    height: int


_PNG = b"\x89PNG\r\n\x1a\n"
_GIFS = (b"GIF87a", b"GIF89a")
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_MARK = 0xFF
_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})


def image_size(content: bytes) -> Size | None:
    """The size that a picture's header names; `None` for another format or a broken header."""
    try:
        size = _size(content)
    except (struct.error, IndexError):
        return None
    return size if size and size.width > 0 and size.height > 0 else None


def _size(content: bytes) -> Size | None:
    if content.startswith(_PNG):
        return Size(*struct.unpack_from(">II", content, 16))
    if content.startswith(_GIFS):
        return Size(*struct.unpack_from("<HH", content, 6))
    if content.startswith(b"\xff\xd8"):
        return _jpeg(content)
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return _webp(content)
    return None


def _jpeg(content: bytes) -> Size | None:
    """The size in the first frame header; segments before it are skipped by their length."""
    place = 2
    while place + 4 <= len(content):
        if content[place] != _MARK:
            return None
        marker = content[place + 1]
        if marker == _MARK or marker in _ALONE:
            place += 1 if marker == _MARK else 2
            continue
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", content, place + 5)
            return Size(width, height)
        place += 2 + int(struct.unpack_from(">H", content, place + 2)[0])
    return None


def _webp(content: bytes) -> Size | None:
    match content[12:16]:
        case b"VP8X" if len(content) >= 30:  # noqa: PLR2004 - the end of its two sizes
            return Size(
                1 + int.from_bytes(content[24:27], "little"), 1 + int.from_bytes(content[27:30], "little")
            )
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", content, 21)
            return Size(1 + (bits & 0x3FFF), 1 + ((bits >> 14) & 0x3FFF))
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", content, 26)
            return Size(width & 0x3FFF, height & 0x3FFF)
    return None
