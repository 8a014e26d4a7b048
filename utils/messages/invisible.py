"""Finds invisible characters in a text. Pure."""

from __future__ import annotations

import json
import unicodedata

_IGNORABLE = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
"""Default_Ignorable_Code_Point in DerivedCoreProperties.txt of Unicode 17.0: characters without a glyph."""

_BLANK = frozenset("\u2800\ufffc\U00013441\U00013442\U00016fe4\U0001d159")
"""Characters with an empty glyph that Unicode does not classify as spaces: Braille, musical and Egyptian blanks, the
Khitan filler, and the object replacement character."""

_PICTURES = (
    (0x00A9, 0x00A9),
    (0x00AE, 0x00AE),
    (0x203C, 0x203C),
    (0x2049, 0x2049),
    (0x2122, 0x2122),
    (0x2139, 0x2139),
    (0x2194, 0x21AA),
    (0x231A, 0x23FF),
    (0x24C2, 0x24C2),
    (0x25AA, 0x27BF),
    (0x2934, 0x2935),
    (0x2B05, 0x2B55),
    (0x3030, 0x303D),
    (0x3297, 0x3299),
    (0x1F000, 0x1FAFF),
)
"""Ranges that contain the emoji of emoji-data.txt of Unicode 17.0 except digits: characters that a variation selector,
which chooses between text and picture, may follow."""

_AS_TEXT, _AS_PICTURE = "\ufe0e", "\ufe0f"
_KEYCAP = "\u20e3"
_JOINER = "\u200d"
_VIRAMA = 9
"""The canonical combining class of the signs after which a joiner shapes a letter (RFC 5892, appendix A.2)."""
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def invisible_in(text: str) -> frozenset[int]:
    """Indices of the invisible characters of a text.

    These are control, formatting, private-use and unassigned characters, line and paragraph separators, and those in
    `_IGNORABLE` and `_BLANK`. Exceptions, since they change how their neighbours look: one variation selector directly
    after an emoji (or in a keycap), and a joiner between two emoji or after the virama of an Indic script.
    """
    unseen = {one for one in set(text) if _unseen(one)}
    if not unseen:
        return frozenset()
    return frozenset(
        place for place, one in enumerate(text) if one in unseen and not _shapes_its_neighbours(text, place)
    )


def seen_of(text: str) -> str:
    """The text without its invisible characters; tabs and line ends stay."""
    hidden = invisible_in(text)
    if not hidden:
        return text
    return "".join(one for place, one in enumerate(text) if place not in hidden)


def _unseen(one: str) -> bool:
    if one in "\n\t":
        return False
    return unicodedata.category(one) in _UNSEEN_CATEGORIES or one in _BLANK or _within(one, _IGNORABLE)


def _shapes_its_neighbours(text: str, place: int) -> bool:
    one, before, after = text[place], text[max(0, place - 2) : place], text[place + 1 : place + 2]
    if one in {_AS_TEXT, _AS_PICTURE}:
        key = one == _AS_PICTURE and after == _KEYCAP and before[-1:] in set("0123456789#*")
        return key or _is_picture(before[-1:])
    if one == _JOINER:
        shown = before[:-1] if before.endswith(_AS_PICTURE) else before[-1:]
        return (_is_picture(shown) and _is_picture(after)) or unicodedata.combining(
            before[-1:] or " "
        ) == _VIRAMA
    return False


def _is_picture(one: str) -> bool:
    return bool(one) and _within(one, _PICTURES)


def _within(one: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= ord(one) <= last for first, last in ranges)


def written_out(text: str) -> str:
    """A text in which each character that a reader cannot see is written as its number, as in JSON."""
    hidden = invisible_in(text)
    return "".join(json.dumps(one)[1:-1] if place in hidden else one for place, one in enumerate(text))
