"""A free word as an argument, where the tool's own examples show its place: "What is the weather in Berlin?".

A name or a quotation shows the place. Where no example has one, a word does that the tool itself does not use: of
`restart(service)`, "Restart a service.", it is the last one of "Restart billing".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from utils.llm.offline import entities
from utils.llm.offline.changes import asked_change
from utils.llm.offline.clauses import Span
from utils.llm.offline.grammar import FORMS, WORDS
from utils.llm.offline.tools import ToolSpec
from utils.llm.offline.words import content_stems, stem, words

_WORD = r"[^\s,.?!;:\"“”]+"
_LONGEST = 4
_SHOWN = re.compile(rf"(?<=\S\s)([A-Z\d]{_WORD}(?:\s+[A-Z]{_WORD}){{0,8}})|[\"“`]([^\"“”`]+)[\"”`]")
_ARTICLES = ("the", "a", "an", "my", "our")


class _Place(NamedTuple):
    """Where a value stands: the words next to it. `after` is empty at the end of a sentence."""

    before: str
    after: str = ""


def free_word(said: str, tool: ToolSpec, parameter: str) -> str | None:
    """The words that stand in a sentence where the tool's examples have a value, as the user wrote them.

    Words that only point, as in "restart it", are no value.
    """
    for before, after in dict.fromkeys(_named(tool.examples) or _foreign(tool)):
        match = re.search(rf"\b{re.escape(before)}\s+((?:{_WORD}\s*){{1,{_LONGEST}}})", said, re.IGNORECASE)
        value = FORMS["after"].sub("", f" {match[1]}").lstrip() if match else ""
        if after:
            value = re.split(rf"\s+{re.escape(after)}\b", value, maxsplit=1, flags=re.IGNORECASE)[0]
        value = _without_its_kind(value.strip(), parameter)
        if value and not WORDS["stop"].issuperset(words(value)):
            return value
    return None


def written_text(said: str, tool: ToolSpec) -> Span | None:
    """Where the text stands that a change puts at its place: in quotation marks, after a colon, or to the end after a word that examples have before it.

    "Comment on issue 1 of a/b: thank you", "… saying thank you".
    """
    if quoted := entities.QUOTED.search(said):
        return quoted.span(quoted.lastindex or 0)
    change = asked_change(said)
    ends = (re.search(r"(\w+) [\"“][^\"”]+[\"”]$", example) for example in tool.examples)
    before = "|".join(dict.fromkeys(re.escape(match[1]) for match in ends if match))
    form = rf"(?::\s+|\b(?:{before})\s+)(?=\S)" if before else r":\s+(?=\S)"
    found = re.compile(form, re.IGNORECASE).search(said, change.start if change else 0)
    return (found.end(), len(said.rstrip())) if found else None


def _named(examples: Sequence[str]) -> list[_Place]:
    """The word before the last name or quotation of each example."""
    shown = [(example, list(_SHOWN.finditer(example))) for example in examples]
    return [_Place(example[: found[-1].start()].split()[-1]) for example, found in shown if found]


def _foreign(tool: ToolSpec) -> list[_Place]:
    """The words around the only word of an example that is in no text of the tool."""
    texts = (tool.name, tool.description, *(p.name for p in tool.parameters))
    own = {stem(word) for text in texts for word in words(text.replace("_", " "))}
    found = []
    for example in tool.examples:
        listed = words(example)
        values = [at for at, word in enumerate(listed) if set(content_stems(word)) - own]
        if len(values) == 1 and (at := values[0]) and listed[at - 1] not in _ARTICLES:
            found.append(_Place(listed[at - 1], listed[at + 1] if at + 1 < len(listed) else ""))
    return found


def _without_its_kind(value: str, parameter: str) -> str:
    """A value without the name of its parameter beside it: "billing" of "the service billing"."""
    kind, article = re.escape(parameter.replace("_", " ")), rf"(?:(?:{'|'.join(_ARTICLES)})\s+)"
    bare = re.sub(rf"^{article}?{kind}\s+(?=\S)|^{article}?(?=\S.*\s{kind}$)", "", value, flags=re.IGNORECASE)
    return re.sub(rf"(?<=\S)\s+{kind}$", "", bare, flags=re.IGNORECASE)
