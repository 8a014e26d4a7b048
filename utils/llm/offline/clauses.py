"""A request cut where one thing that it asks for may end: at items, sentences, joints, and between nouns under one verb."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from utils.llm.offline.entities import numbers, quotes_hidden
from utils.llm.offline.grammar import FORMS
from utils.llm.offline.particulars import links_in_words
from utils.llm.offline.words import spelled_out, words
from utils.messages.sentences import orders

LONGEST_SPLIT = 600
"""Characters: a longer message is pasted material more often than a list of wishes, and stays whole."""
_SENTENCE = re.compile(
    r"(?<=[?!;])\s+|(?<=[a-z0-9\"'`)])\.\s+(?=[A-Z])|(?<=\.)\s+(?=[A-Z])|(?<=[a-z0-9)])(?<!i\.e)(?<!e\.g)(?<!etc)(?<!\bincl)\.\s+(?=(?:what|how|why|which|who|when|where|is|are|does|do|did|can|could|list|show|tell|please|and|also|if)\b)|\n+"
)
_AND = re.compile(
    r"\s*,\s+(?!no\b|not\b|without\b|only\b|just\b)(?:and\s+)?|\s+(?:and|or|vs\.?|versus|as well as|plus|\+|&)\s+(?:more\s+)?"
)


_NUMBERED = re.compile(r"(?:^|(?<=\s))(?:(?:and|then)\s+)?\(?([1-9])[.)]\s+")
_BULLET = re.compile(r"(?:^|(?<=\n))[ \t]*[-*\u2022][ \t]+")
_ORDINAL = re.compile(
    r"(?:^|(?<=[.?!;:,]\s)|(?<=\s)(?=(?:\w+\s+)?\w+:))(?:(?:and|then)\s+)?(first|second|third|fourth|fifth)(?:ly)?(?:[:,]\s+|\s+(?!(?:and|or)\b))",
    re.IGNORECASE,
)
"""The beginnings of items that are told by words, if "first" and "second" are among them."""

Span = tuple[int, int]
"""Where a part of a text begins and ends."""


class Clause(NamedTuple):
    """One wish: the words to understand it by, and the user's own words with their place in the request.

    `condition` is under what it is wanted: "if not". `item` is its place in a
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


def without_story(text: str, noun: str) -> str:
    """A request without what people tell before it, where the rest says what it asks for: of a repository, or by the tool's `noun`."""
    rest = FORMS["preamble"].sub("", text)
    asks = FORMS["has"].search(rest) or set(words(noun)) & set(words(rest))
    return rest if asks and not numbers(text[: len(text) - len(rest)]) else text


def split(request: str, nouns: Sequence[str] = ()) -> list[Clause]:
    """The clauses of a request, in order. `nouns` are what the bound tools are about: "issues", "commits"."""
    if len(request) > LONGEST_SPLIT or "```" in request:
        return [Clause(request.strip(), 0, len(request))]
    masked = quotes_hidden(request)
    preface = FORMS["preface"].match(masked)
    clauses = [
        part._replace(item=item)
        for item, (first, last) in enumerate(_items(masked, preface.end() if preface else 0))
        for start, end in cuts(masked, _SENTENCE, first, last)
        for piece in cuts(masked, FORMS["joint"], start, end)
        for part in _coordinated(request, *piece, nouns)
    ]
    return [clause for clause in clauses if re.search(r"\w", FORMS["lead"].sub("", clause.text))]


def cuts(text: str, form: re.Pattern[str], start: int, end: int) -> list[Span]:
    """The spans of a text between what a form finds."""
    spans: list[Span] = []
    for match in form.finditer(text, start, end):
        spans.append((start, match.start()))
        start = match.end()
    return [*spans, (start, end)]


def _items(text: str, start: int) -> list[Span]:
    """The items of a numbered list, "(1) … (2) …", or the whole text."""
    counted = ((_NUMBERED, {"1", "2"}), (_ORDINAL, {"first", "second"}))
    forms = [form for form, two in counted if two <= set(form.findall(text.lower()))]
    forms += [_BULLET] if len(_BULLET.findall(text)) > 1 else []
    return cuts(text, forms[0], start, len(text)) if forms else [(start, len(text))]


def _coordinated(request: str, start: int, end: int, nouns: Sequence[str], verb: str = "") -> list[Clause]:
    """Nouns under one verb ("list the issues, releases and commits of …") as a clause each."""
    text = request[start:end]
    clause = _clause(request, start, end)
    whole = clause._replace(text=f"{verb} {clause.text}".lstrip())
    joints = list(_AND.finditer(text))
    if not joints or FORMS["starts"].match(text[joints[0].end() :]):
        return [whole]
    joint = next((each for each in joints if _joins_nouns(text, each, nouns)), joints[0])
    left, right = text[: joint.start()], text[joint.end() :]
    ordered = orders(right) and _noun(left, nouns) and opens_a_request(left)
    if not ordered and (orders(right) or not _joins_nouns(text, joint, nouns)):
        return [whole]
    found = FORMS["verb"].match(FORMS["lead"].sub("", left))
    of_all = re.match(r".*?:(?=\s)", left, re.DOTALL)  # "what octocat did in a/b since May: issues, commits"
    verb = "" if ordered else of_all[0] if of_all else found[1] if found else verb or "show"
    named = _clause(request, start, start + joint.start())
    named = named if found or ordered or orders(named.text) else named._replace(text=f"{verb} {named.text}")
    return [named, *_coordinated(request, start + joint.end(), end, nouns, verb)]


def _joins_nouns(text: str, joint: re.Match[str], nouns: Sequence[str]) -> bool:
    """Whether what stands on both sides of a joint is about a noun each: "issues without a label and with comments, plus branches"."""
    first, second = _noun(text[: joint.start()], nouns), _noun(_AND.split(text[joint.end() :])[0], nouns)
    return bool(first and second) and first != second


def _noun(text: str, nouns: Sequence[str]) -> str | None:
    lower = spelled_out(text).lower()
    return next(
        (
            noun
            for noun in nouns
            if re.search(
                rf"(?<![\w-]){re.escape(noun.removesuffix('s'))}{'s?' * noun.endswith('s')}(?![\w-])", lower
            )
        ),
        None,
    )


def _clause(request: str, start: int, end: int) -> Clause:
    text = request[start:end]
    return Clause((FORMS["lead"].sub("", text) or text).strip(" ,;\n").lstrip(":- "), start, end)
