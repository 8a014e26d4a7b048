"""Sanitises file names that a peer chose: one path component that can be shown and saved. Pure."""

from __future__ import annotations

from utils.messages.invisible import seen_of

LONGEST_NAME = 200
"""Bytes of a name in UTF-8: file systems take 255, with room for a suffix that makes equal names unique."""

_NAMELESS = "file"
_LONGEST_ENDING = 16
_LONGEST_READ = 2_000
_RESERVED = {"con", "prn", "aux", "nul"} | {
    f"{port}{digit}" for port in ("com", "lpt") for digit in range(1, 10)
}
_FORBIDDEN = str.maketrans(dict.fromkeys('<>:"|?*`', "_"))


def safe_file_name(name: str) -> str:
    """The last component of a name, without what hides or reorders text and what file systems forbid.

    Not empty, not hidden by a leading dot, none of the device names of Windows, at most `LONGEST_NAME` bytes with its
    ending kept.
    """
    last = name.replace("\\", "/").rstrip("/ ").rpartition("/")[2][:_LONGEST_READ]
    line = " ".join(seen_of(last).translate(_FORBIDDEN).split()).strip(". ")
    if not line:
        return _NAMELESS
    if line.partition(".")[0].strip().lower() in _RESERVED:
        line = f"_{line}"
    return _cut(line)


def _cut(name: str) -> str:
    if len(name.encode()) <= LONGEST_NAME:
        return name
    stem, dot, ending = name.rpartition(".")
    kept = f".{ending}" if dot and len(ending) <= _LONGEST_ENDING else ""
    room = LONGEST_NAME - len(kept.encode())
    begin = (stem if kept else name).encode()[:room].decode(errors="ignore")
    return begin.rstrip(". ") + kept
