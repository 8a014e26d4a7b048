"""A free word as an argument, where the tool's own examples show its place: "What is the weather in Berlin?"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from utils.llm.offline.grammar import FORMS

_WORD = r"[^\s,.?!;:\"“”]+"
_LONGEST = 4
_SHOWN = re.compile(rf"(?<=\S\s)([A-Z\d]{_WORD}(?:\s+[A-Z]{_WORD})*)|[\"“`]([^\"”`]+)[\"”`]")


def free_word(said: str, examples: Sequence[str]) -> str | None:
    """The words that stand in a sentence where the examples have a name or a quotation, as the user wrote them."""
    for before in dict.fromkeys(_places(examples)):
        match = re.search(rf"\b{re.escape(before)}\s+((?:{_WORD}\s*){{1,{_LONGEST}}})", said, re.IGNORECASE)
        value = FORMS["after"].sub("", match[1]).strip() if match else ""
        if value:
            return value
    return None


def _places(examples: Sequence[str]) -> list[str]:
    """The word before the last name of each example."""
    found = []
    for example in examples:
        matches = list(_SHOWN.finditer(example))
        if matches:
            found.append(example[: matches[-1].start()].split()[-1])
    return found
