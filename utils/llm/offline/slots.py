"""A free word as an argument: the words of a sentence that its tool does not use, "Berlin" of "What is the weather in Berlin?"."""

from __future__ import annotations

import re
from itertools import groupby

from utils.llm.offline.grammar import FORMS, WORDS
from utils.llm.offline.tools import ToolSpec
from utils.llm.offline.words import content_stems, stem, words

_WORD = re.compile(r"[^\s,.?!;:\"“”]+")


def free_word(said: str, tool: ToolSpec) -> str | None:
    """The last words beside each other that neither a tool nor the beginning of one of its examples has, as the user wrote them.

    Words that only point, as in "restart it", are no value.
    """
    texts = (
        tool.name.replace("_", " "),
        tool.description,
        *(p.name.replace("_", " ") for p in tool.parameters),
    )
    own = {stem(word) for text in texts for word in words(text)} | WORDS["plain"]
    own |= {stem(words(example)[0]) for example in tool.examples if words(example)}
    runs = groupby(_WORD.finditer(said), lambda match: bool(set(content_stems(match[0])) - own))
    told = (
        FORMS["after"].sub("", f" {' '.join(match[0] for match in run)}").strip() for new, run in runs if new
    )
    return next(filter(None, reversed(list(told))), None)
