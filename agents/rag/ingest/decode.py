"""Bytes to text: byte order marks, declared and undeclared encodings, line ends."""

from __future__ import annotations

import codecs

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 8192
_CONTROL_SHARE = 0.1


def decode_text(data: bytes, declared: str | None = None) -> str:
    """The text of a file or page.

    A byte order mark decides; then UTF-8, then the declared encoding, then Windows-1252 (where
    every byte means something). UTF-8 comes before the declaration because text that decodes as
    UTF-8 is hardly ever anything else, while declarations are often wrong.
    """
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    for name in filter(None, (marked, "utf-8", declared)):
        try:
            return _normalise(data.decode(name))
        except (UnicodeError, LookupError):  # some encodings that a server may name refuse everything
            continue
    return _normalise(data.decode("cp1252", errors="replace"))


def looks_binary(data: bytes) -> bool:
    """Whether bytes are not text: a NUL or many control characters in the first 8 KiB, and no mark."""
    if any(data.startswith(mark) for mark, _ in _MARKS):
        return False
    sample = data[:_SAMPLE]
    if b"\0" in sample:
        return True
    controls = sum(byte < ord(" ") and byte not in b"\t\n\r\f\x1b" for byte in sample)
    return controls > _CONTROL_SHARE * len(sample)


def _normalise(text: str) -> str:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\0", "")
