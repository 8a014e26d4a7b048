"""Searches a stored text and shows each match with the text around it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from utils.messages.stored import missing_from

MATCHES = 60
"""Most matches that one call shows."""
LINE = 300
"""Longest line, in characters, that is shown completely; of a longer one, the text around each match."""
AROUND = 150
"""Characters shown on either side of a match in a long line."""


def grep_lines(text: str, wanted: str, room: int, offset: int = 0) -> str:
    """The lines that contain one of the wanted texts, with their numbers, and a count of the matches.

    The wanted texts are not regular expressions, since one written by a model could take forever.

    Args:
        text: The text.
        wanted: Texts to find, separated by `|`; case is ignored.
        room: Most characters to show, without the last line, which counts the matches.
        offset: Character to begin at.
    """
    shown: list[str] = []
    count, more = 0, None
    for place, line in _places(text, wanted, offset, room):
        count += 1
        room -= len(line) + 1
        if more is None and room >= 0 and len(shown) < MATCHES:
            shown.append(line)
        elif more is None:
            more = place
    lines, missing = text.count("\n") + (not text.endswith("\n")), missing_from(text)
    unseen = (
        f"{missing:,} characters of the result were not stored, so nobody can tell of them" if missing else ""
    )
    if not count:
        start = f" from offset={offset} on" if offset else ""
        return f"No line of {lines:,}{start} matches." + (f" But {unseen}." if unseen else "")
    summary = [f"{len(shown)} of {count:,} matches in {lines:,} lines"]
    summary += [f"go on with offset={more}"] * (more is not None) + [unseen] * bool(unseen)
    return "\n".join([*shown, f"[{'; '.join(summary)}]"])


def _places(text: str, wanted: str, offset: int, longest: int) -> Iterator[tuple[int, str]]:
    """Offset of each match and the line to show for it. Linear: reads each character once."""
    words = [re.escape(word) for word in wanted.split("|") if word]
    if not words:
        return
    pattern = re.compile("|".join(words), re.IGNORECASE)
    number = text.count("\n", 0, offset) + 1
    first = text.rfind("\n", 0, offset) + 1
    last = _end_of_line(text, offset)
    position = offset
    while match := pattern.search(text, position):
        if match.start() > last:
            number += text.count("\n", last, match.start())
            first = text.rfind("\n", last, match.start()) + 1
            last = _end_of_line(text, match.start())
        if last - first <= LINE:
            position = max(last, match.end())
            yield match.start(), f"{number}: {text[first:last]}".rstrip("\r")
            continue
        begin = max(first, match.start() - AROUND)
        end = min(max(last, match.end()), match.end() + AROUND)
        position = end
        before, after = "…" * (begin > first), "…" * (end < last)
        yield match.start(), f"{number} (offset {begin}): {before}{text[begin:end][: longest // 2]}{after}"


def _end_of_line(text: str, position: int) -> int:
    found = text.find("\n", position)
    return len(text) if found < 0 else found
