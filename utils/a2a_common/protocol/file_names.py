"""Names of files that a peer chose: one path component that can be shown and saved. Pure."""

from __future__ import annotations

from utils.messages.invisible import seen_of

LONGEST_NAME = 120
"""Characters of a name: file systems take 255 bytes, and a character takes up to four of them in UTF-8, with room
for a suffix that tells equal names apart."""

_LONGEST_ENDING = 16
_RESERVED = {"con", "prn", "aux", "nul"} | {
    f"{port}{digit}" for port in ("com", "lpt") for digit in range(1, 10)
}
_FORBIDDEN = str.maketrans(dict.fromkeys('<>:"|?*\n\t', "_"))


def safe_file_name(name: str, fallback: str = "file") -> str:
    """The last component of a name, without what hides or reorders text and what file systems forbid.

    Not empty, not hidden by a leading dot, none of the device names of Windows, at most `LONGEST_NAME` characters with
    its ending kept.
    """
    last = name.replace("\\", "/").rstrip("/ ").rpartition("/")[2][: 8 * LONGEST_NAME]
    line = " ".join(seen_of(last).translate(_FORBIDDEN).split()).strip(". ")
    if not line:
        return fallback
    if line.partition(".")[0].strip().lower() in _RESERVED:
        line = f"_{line}"
    return _cut(line)


def _cut(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending) > _LONGEST_ENDING:
        return name[:LONGEST_NAME].rstrip(". ")
    return f"{stem[: LONGEST_NAME - len(ending) - 1].rstrip('. ')}.{ending}"
