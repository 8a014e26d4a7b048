"""Requests to change something at GitHub, told from questions by a verb that stands where a command does.

A command stands at the beginning of a sentence or part, after "please", "could you", "I need you to" and the like. "Who
merged it?", "waiting to be merged" and "how do I close it?" have no such verb.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from utils.llm.offline import entities
from utils.llm.offline.clauses import opens_a_request
from utils.llm.offline.grammar import FORMS, LEXICON, WORDS
from utils.llm.offline.tools import ToolSpec
from utils.llm.offline.words import stem
from utils.messages.sentences import orders

_SAME = {verb: asked for asked, verbs in LEXICON["same_change"].items() for verb in verbs.split()}
_ALONE, _NOUNS = (frozenset(map(stem, WORDS[name])) for name in ("change", "noun"))


class Change(NamedTuple):
    """The verb that a change is asked for with, as the tools' examples have it, and where its part of the text begins."""

    verb: str
    start: int


def asked_change(text: str) -> Change | None:
    """The first change that a text asks for."""
    plain = FORMS["unchanged"].sub(lambda match: "." * len(match[0]), entities.quotes_hidden(text))
    at = 0
    while match := FORMS["command"].search(plain, at):
        verb = _verb(match, plain)
        if verb:
            return Change(verb, match.start("polite"))
        at = max(match.start() + 1, match.end("begins"))
    return None


def asks_nothing(text: str) -> bool:
    """Whether a text has no question, no order, and no thing that is wanted."""
    asks = "?" in text or opens_a_request(text) or orders(text) or asked_change(text)
    return not (asks or FORMS["thing_alone"].match(text))


def speaks_of_github(text: str) -> bool:
    """Whether a text names a repository or something that GitHub has."""
    return entities.repository(text) is not None or FORMS["at_github"].search(text) is not None


def changing(clause: str, tools: Sequence[ToolSpec]) -> list[tuple[ToolSpec, list[str]]]:
    """The tools for the change that a clause asks for, each with its nearest examples: those of that verb, else all.

    A verb that no list of ours has is one of a change where the examples of such a tool begin with it: "Scrap the widget Red".
    """
    own = [(tool, list(tool.examples)) for tool in tools if tool.changes and tool.examples]
    verb = _verb_of(clause)
    same = [(tool, [text for text in texts if any(verb) and _verb_of(text) == verb]) for tool, texts in own]
    found = [(tool, texts) for tool, texts in same if texts]
    return found or (own if verb[0] else [])


def _verb_of(text: str) -> tuple[str, str]:
    """The verb that a change is asked for with, or else the one that a text begins with."""
    change = asked_change(text)
    return (change.verb, "") if change else ("", _first_verb(text))


def _first_verb(text: str) -> str:
    """The stem of the first word of an order; empty for a question or a wish to be shown something."""
    first = FORMS["first_word"].match(text)
    return stem(first[1].lower()) if first and orders(text[first.start(1) :]) else ""


def _verb(match: re.Match[str], text: str) -> str | None:
    word, following = match["verb"].lower().replace("-", ""), match["next"]
    at = match.start("verb")
    if word.endswith("ing") and "mind" in match["polite"].lower():
        base = f"{text[:at]}{word.removesuffix('ing')}"
        plain = (f"{base}{ending}{text[match.end('verb') :]}" for ending in ("", "e"))
        text = next((each for each in plain if FORMS["with_an_object"].match(each, at)), text)
    elif word.endswith(("ed", "ing", "s")) and not word.endswith("ss"):
        return None  # "merged pull requests", "closing date of …", "comments of …"
    verb = stem(_SAME.get(word, word))
    puts = FORMS["put"].match(text, at) and not (word in WORDS["reading"] or opens_a_request(word))
    if puts or FORMS["with_an_object"].match(text, at):
        return verb
    if stem(word) not in _ALONE or FORMS["of_a_noun"].fullmatch(following):
        return None
    needs_an_object = stem(word) in _NOUNS and match["begins"].strip()
    return None if needs_an_object and not FORMS["acted_on"].match(following) else verb
