"""What a reader cannot see, over all of Unicode, against tables that others made."""

from __future__ import annotations

import importlib
import unicodedata
from typing import Any

from utils.messages.invisible import invisible_in

regex: Any = importlib.import_module("regex")  # a dependency of tiktoken, without types
IGNORABLE = regex.compile(r"\p{Default_Ignorable_Code_Point}")
EMOJI = regex.compile(r"\p{Emoji}")
CODE_POINTS = [chr(number) for number in range(0x110000)]


def test_no_ignorable_character_is_seen_between_letters_anywhere_in_unicode() -> None:
    missed = [
        hex(ord(one)) for one in CODE_POINTS if IGNORABLE.match(one) and 1 not in invisible_in(f"a{one}b")
    ]
    assert missed == []


def test_letters_marks_numbers_and_punctuation_are_seen_everywhere_in_unicode() -> None:
    seen = regex.compile(r"[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}--\p{Default_Ignorable_Code_Point}]", regex.V1)
    blank = set("\u2800\ufffc\U00013441\U00013442\U00016fe4\U0001d159")
    hidden = [one for one in CODE_POINTS if seen.match(one) and invisible_in(one)]
    assert [hex(ord(one)) for one in hidden if one not in blank and _assigned(one)] == []


def _assigned(one: str) -> bool:
    """Whether Python knows the character, too; its Unicode is older than that of the tables."""
    return unicodedata.category(one) != "Cn"


def test_every_emoji_may_have_one_selector_and_nothing_else_but_a_keycap_may() -> None:
    emoji = [one for one in CODE_POINTS if EMOJI.match(one) and not one.isascii()]
    assert len(emoji) > 1_000
    for one in emoji:
        assert not {1, 2} & invisible_in(f"{one}\ufe0f "), hex(ord(one))
        assert invisible_in(f"{one}\ufe0f\ufe0f") >= {2}, hex(ord(one))
    for one in [*"aZ5#* ", "\u00fc", "\u6f22", "\u0915"]:
        assert invisible_in(f"{one}\ufe0f") == {1}
        assert invisible_in(f"{one}\u200d{one}") == {1}
    assert not invisible_in("1\ufe0f\u20e3")


def test_nothing_may_stand_where_nothing_is() -> None:
    assert invisible_in("") == frozenset()
    assert invisible_in("\u200d") == {0}
    assert invisible_in("\ufe0f") == {0}
    assert invisible_in("\ufe0f\u200d\U0001f525") == {0, 1}
