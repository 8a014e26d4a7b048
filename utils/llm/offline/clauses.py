"""A request cut into the independent things that it asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from utils.llm.offline.entities import quotes_hidden
from utils.llm.offline.grammar import FORMS
from utils.llm.offline.links import links_in_words
from utils.llm.offline.words import spelled_out

LONGEST_SPLIT = 600
"""Characters: a longer message is pasted material more often than a list of wishes, and stays whole."""
_SENTENCE = re.compile(
    r"(?<=[?!;])\s+|(?<=[a-z0-9\"'`)])\.\s+(?=[A-Z])|(?<=\.)\s+(?=[A-Z])|(?<=[a-z0-9)])(?<!i\.e)(?<!e\.g)(?<!etc)(?<!\bincl)\.\s+(?=(?:what|how|why|which|who|when|where|is|are|does|do|did|can|could|list|show|tell|please|and|also|if)\b)|\n+"
)
_NAMES = re.compile(r"[\w-]+/[\w.-]+|#?\d+|x{3,}")
_REPOSITORY = re.compile(r"[\w-]+/[\w.-]+")
_AND = re.compile(
    r"\s*,\s+(?!no\b|not\b|without\b|only\b|just\b)(?:and\s+)?|\s+(?:and|or|vs\.?|versus|as well as|plus|\+|&)\s+(?:more\s+)?"
)


_NUMBERED = re.compile(r"(?:^|(?<=\s))(?:(?:and|then)\s+)?\(?([1-9a-e])[.)]\s+")


class Clause(NamedTuple):
    """One wish: the words to understand it by, and the user's own words with their place in the request.

    `condition` is under what it is wanted: "if not", "If octocat/hello-world has no open issues". `item` is its place in a
    numbered list, from 0.
    """

    text: str
    start: int
    end: int
    condition: str = ""
    item: int = 0

    @property
    def reading(self) -> str:
        """The text with addresses in words, by which tools are chosen."""
        return links_in_words(self.text)


def opens_a_request(text: str) -> bool:
    """Whether a text begins as a command or a question does."""
    return bool(FORMS["starts"].match(text))


def asks_for_more(text: str) -> bool:
    """Whether a text asks for more of what was named before it: "who wrote it", "what did the last comment say"."""
    return bool(FORMS["of_it"].search(text)) and not (FORMS["else"].search(text) or _NAMES.search(text))


def split(request: str, nouns: Sequence[str] = ()) -> list[Clause]:
    """The clauses of a request, in order. `nouns` are what the bound tools are about: "issues", "commits"."""
    if len(request) > LONGEST_SPLIT or "```" in request:
        return [Clause(request.strip(), 0, len(request))]
    masked = quotes_hidden(request)
    preface = FORMS["preface"].match(masked)
    clauses = [
        part._replace(item=item)
        for item, (first, last) in enumerate(_items(masked, preface.end() if preface else 0))
        for start, end in _sentences(masked, first, last)
        for piece in _joints(masked, start, end)
        for part in _coordinated(request, *piece, nouns)
    ]
    told = [clause for clause in clauses if re.search(r"\w", FORMS["lead"].sub("", clause.text))]
    return told or [clause for clause in clauses if re.search(r"\w", clause.text)]


def cuts(text: str, form: re.Pattern[str], start: int, end: int) -> list[tuple[int, int]]:
    """The spans of a text between what a form finds."""
    spans: list[tuple[int, int]] = []
    for match in form.finditer(text, start, end):
        spans.append((start, match.start()))
        start = match.end()
    return [*spans, (start, end)]


def _items(text: str, start: int) -> list[tuple[int, int]]:
    """The items of a numbered list, "(1) … (2) …", or the whole text."""
    marks = {match[1] for match in _NUMBERED.finditer(text, start)}
    listed = {"1", "2"} <= marks or {"a", "b"} <= marks or "(2)" in text or "(b)" in text
    return cuts(text, _NUMBERED, start, len(text)) if listed else [(start, len(text))]


def _sentences(text: str, first: int, last: int) -> list[tuple[int, int]]:
    """The sentences, each with the few words after it that say more of it: "… of a/b? Only the open ones."."""
    spans: list[tuple[int, int]] = []
    for start, end in cuts(text, _SENTENCE, first, last):
        if spans and FORMS["fragment"].match(text[start:end]) and not re.search(r"[/#]", text[start:end]):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _joints(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cuts at "and show …", unless the right side is an aside of the left ("issue 5, who reported it?")."""
    spans: list[tuple[int, int]] = []
    for left, right in cuts(text, FORMS["joint"], start, end):
        if spans and _speaks_of_the_left(text, spans[-1], left, right):
            spans[-1] = (spans[-1][0], right)
        else:
            spans.append((left, right))
    return spans


def _speaks_of_the_left(text: str, before: tuple[int, int], left: int, right: int) -> bool:
    """As a question after a comma that names nothing itself: "issue 5 of a/b, who reported it?"."""
    if FORMS["more_of_it"].match(text, before[1]) and not _NAMES.search(text[left:right]):
        return True
    if (
        FORMS["how"].search(text, *before)
        and FORMS["does"].match(text, left)
        and not _NAMES.search(text[left:right])
    ):
        return True
    right_text = text[left:right]
    if asks_for_more(right_text) and _REPOSITORY.search(text, *before):
        return True
    aside = FORMS["aside"].match(text, before[1])
    return (
        bool(aside)
        and not FORMS["starts"].match(text[slice(*before)])
        and not _NAMES.search(text[left:right])
    )


def _coordinated(request: str, start: int, end: int, nouns: Sequence[str], verb: str = "") -> list[Clause]:
    """Nouns under one verb ("list the issues, releases and commits of …") as a clause each."""
    text = request[start:end]
    clause = _clause(request, start, end)
    whole = clause._replace(text=f"{verb} {clause.text}".lstrip())
    joint = _AND.search(text)
    if not joint or FORMS["starts"].match(text[joint.end() :]):
        return [whole]
    left, right = text[: joint.start()], text[joint.end() :]
    first, second = _noun(left, nouns), _noun(_AND.split(right)[0], nouns)
    if not first or not second or first.rstrip("s") == second.rstrip("s"):
        return [whole]
    found = FORMS["verb"].match(FORMS["lead"].sub("", left))
    verb = found[1] if found else verb or "show"
    rest = _coordinated(request, start + joint.end(), end, nouns, verb)
    named = _clause(request, start, start + joint.start())
    return [named if found else named._replace(text=f"{verb} {named.text}".lstrip()), *rest]


def _noun(text: str, nouns: Sequence[str]) -> str | None:
    lower = spelled_out(text).lower()
    return next((noun for noun in nouns if re.search(rf"(?<![\w-]){re.escape(noun)}(?![\w-])", lower)), None)


def _clause(request: str, start: int, end: int) -> Clause:
    text = request[start:end]
    lead = FORMS["lead"].match(text)
    stripped = text[lead.end() :] if lead and lead.end() < len(text) else text
    return Clause(stripped.strip(" ,;\n"), start, end)
