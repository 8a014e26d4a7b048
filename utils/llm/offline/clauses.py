"""A request cut into the independent things that it asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from utils.llm.offline.grammar import pattern
from utils.llm.offline.words import spelled_out

LONGEST_SPLIT = 600
"""Characters: a longer message is pasted material more often than a list of wishes, and stays whole."""
_CHANGE = r"close|reopen|merge|delete|assign|comment|re-?run"
_OPENER = (
    r"(?:please\s+|can you\s+|could you\s+|would you\s+|i want to know\s+|i need to know\s+)*"
    r"(?:list|show|get|find|search|give|tell|what(?:'s|s)?|how(?:'s)?|why|which|who|whose|when|where|wher|is|are|does|do|did|can|could|"
    r"has|have(?=\s+(?:i|you|we|they|there|the|all|any)\b)|explain|describe|summari[sz]e|compare|fetch|open(?!\s+(?:issues|pull requests|prs|tickets|bugs|ones|only)\b)|check|print|read|count|display|look|write|create|help|translate|whatever|anything(?!\s+(?:from|by)\b)|"
    rf"{_CHANGE})\b"
)
_SENTENCE = re.compile(
    r"(?<=[?!;])\s+|(?<=[a-z0-9\"'`)])\.\s+(?=[A-Z])|(?<=\.)\s+(?=[A-Z])|(?<=[a-z0-9)])(?<!i\.e)(?<!e\.g)(?<!etc)(?<!\bincl)\.\s+(?=(?:what|how|why|which|who|when|where|is|are|does|do|did|can|could|list|show|tell|please|and|also|if)\b)|\n+"
)
_JOINT = pattern(
    rf"[,;]?\s+(?:and\s+)?(?:while you(?:'re| are) at it|by the way|btw|in addition|besides(?: that)?|on top of that)\b[:,]?\s+|\s*(?:,\s*|;\s*|\s)(?:and\s+(?:also\s+|then\s+|finally\s+|lastly\s+)?|finally\s+|also\s+|then\s+|plus\s+|as well as\s+)(?={_OPENER})|(?:[,;]?\s+(?:and|but|or)\s+|[,;]\s+)(?=if\s+(?:not|so|yes|no|none|there|it)\b|otherwise\b|else\b)|,\s+(?!open\s+(?:and|or)\b)(?={_OPENER})"
)
_LEAD = pattern(
    r"^\s*(?:(?:and|also|then|plus|so|ok|okay|now|but|first(?:ly)?(?!\s+(?:\d|two|three|four|five|issue|pull|pr|commit|release|open|closed))|second(?:ly)?|finally|lastly)\b[\s,]*)+"
)
_NAMES = re.compile(r"[\w-]+/[\w.-]+|#?\d+|x{3,}")
_FRAGMENT = pattern(
    r"^\s*(?:(?:only|just)\s+(?:the\s+)?[\w-]+(?:\s+[\w-]+){0,3}|(?:[\w-]+\s+){1,3}only|(?:top|max(?:imum)?|first|last|at most|limit|(?:new|old)est)\s+(?:\d+|first))\W*$"
)
_MORE_OF_IT = pattern(
    r"[,;]?\s+and\s+(?:did|has|have|was|were|is|are|does|do|can|could|will)\s+(?:(?:any|some|no) ?(?:body|one)|it|they|he|she)\b"
    r"|[,;]?\s+and\s+(?:by\s+)?(?:who|whom|when)\b[^,;.?]{0,30}\b(?:each|every one)(?=\s+of\b|\W*$)"
)
"""Begins a question about what the part before names: "who reviewed pull request 5 of a/b and did anybody request changes"."""
_OF_IT = pattern(
    r"\b(?:it|its)\b|^\W*(?:and\s+)?(?:(?:please\s+)?(?:tell me|say)\s+)?(?:(?:who|when|by whom)\s+(?:is|was|has|did|opened|wrote|reviewed|approved"
    r"|merged|closed|commented|reported|created|made)|what\s+(?:is|was|were|has been)\s+(?:said|discussed|written))\b"
)
"""Asks for more of what the part before names: "and who wrote it", "tell me who is assigned"."""
_ELSE = pattern(
    r"\bhow\s+(?:do|can|should|to)\b|\b(?:our|we|service|docs?|documentation|documents?|issues?|tickets?|pull requests?|prs?|commits?|releases?|branch(?:es)?|runs?|jobs?|logs?|use|start|stop"
    r"|install|deploy|configure|set up|upgrade|uninstall|costs?|needs?|memory|ports?|docker|kubernetes|helm|models?|keys?|settings?)\b"
)
_REPOSITORY = re.compile(r"[\w-]+/[\w.-]+")
_HIDDEN = re.compile(r"\"[^\"]*\"|`[^`]*`|“[^”]*”")
_ASIDE = pattern(
    r",\s+(?:what(?:'s|s)?|how|why|which|who|whose|when|where|is|are|was|were|does|do|did|has|have|can)\b"
)
_AND = re.compile(
    r"\s*,\s+(?!no\b|not\b|without\b|only\b|just\b)(?:and\s+)?|\s+(?:and|or|vs\.?|versus|as well as|plus|\+|&)\s+(?:more\s+)?"
)
_HOW = pattern(r"\bhow\s+(?:do|can|could|should|would)\s+(?:i|we|you|one)\b|\bhow to\b")
_DOES = pattern(rf"\s*(?:{_CHANGE}|create|open|write|find|get|look|check|search|read|count|print)\b")
"""What is done besides, in a question of how something is done: "how do I list my chats and reopen one"."""
_STARTS = pattern(rf"^\s*{_OPENER}")
_VERB = pattern(rf"^\s*({_OPENER}(?:\s+me|\s+many)?)")


_NUMBERED = re.compile(r"(?:^|(?<=\s))\(?([1-9a-e])[.)]\s+")
_PREFACE = pattern(
    r"^\W*(?:i have |i've got |here are |just |quick )?(?:a few|two|three|four|some|several|a couple of)\s+(?:\w+\s+){0,2}"
    r"(?:things|questions|requests|points|items)\b[^.:;?]*[.:;]\s*"
)
"""What only says that parts follow: "Two things for my standup: …"."""


class Clause(NamedTuple):
    """One wish: the words to understand it by, and the user's own words with their place in the request.

    `condition` is under what it is wanted: "if not", "If octocat/hello-world has no open issues".
    """

    text: str
    start: int
    end: int
    condition: str = ""


def opens_a_request(text: str) -> bool:
    """Whether a text begins as a command or a question does."""
    return bool(_STARTS.match(text))


def split(request: str, nouns: Sequence[str] = ()) -> list[Clause]:
    """The clauses of a request, in order. `nouns` are what the bound tools are about: "issues", "commits"."""
    if len(request) > LONGEST_SPLIT or "```" in request:
        return [Clause(request.strip(), 0, len(request))]
    masked = _HIDDEN.sub(lambda match: "x" * len(match[0]), request)
    preface = _PREFACE.match(masked)
    clauses = [
        part
        for first, last in _items(masked, preface.end() if preface else 0)
        for start, end in _sentences(masked, first, last)
        for piece in _joints(masked, start, end)
        for part in _coordinated(request, *piece, nouns)
    ]
    told = [clause for clause in clauses if re.search(r"\w", _LEAD.sub("", clause.text))]
    return told or [clause for clause in clauses if re.search(r"\w", clause.text)]


def _cuts(text: str, form: re.Pattern[str], start: int, end: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for match in form.finditer(text, start, end):
        spans.append((start, match.start()))
        start = match.end()
    return [*spans, (start, end)]


def _items(text: str, start: int) -> list[tuple[int, int]]:
    """The items of a numbered list, "(1) … (2) …", or the whole text."""
    marks = {match[1] for match in _NUMBERED.finditer(text, start)}
    listed = {"1", "2"} <= marks or {"a", "b"} <= marks or "(2)" in text or "(b)" in text
    return _cuts(text, _NUMBERED, start, len(text)) if listed else [(start, len(text))]


def _sentences(text: str, first: int, last: int) -> list[tuple[int, int]]:
    """The sentences, each with the few words after it that say more of it: "… of a/b? Only the open ones."."""
    spans: list[tuple[int, int]] = []
    for start, end in _cuts(text, _SENTENCE, first, last):
        if spans and _FRAGMENT.match(text[start:end]) and not re.search(r"[/#]", text[start:end]):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _joints(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cuts at "and show …", unless the right side is an aside of the left ("issue 5, who reported it?")."""
    spans: list[tuple[int, int]] = []
    for left, right in _cuts(text, _JOINT, start, end):
        if spans and _speaks_of_the_left(text, spans[-1], left, right):
            spans[-1] = (spans[-1][0], right)
        else:
            spans.append((left, right))
    return spans


def _speaks_of_the_left(text: str, before: tuple[int, int], left: int, right: int) -> bool:
    """As a question after a comma that names nothing itself: "issue 5 of a/b, who reported it?"."""
    if _MORE_OF_IT.match(text, before[1]) and not _NAMES.search(text[left:right]):
        return True
    if _HOW.search(text, *before) and _DOES.match(text, left) and not _NAMES.search(text[left:right]):
        return True
    right_text = text[left:right]
    if (
        _OF_IT.search(right_text)
        and _REPOSITORY.search(text, *before)
        and not (_ELSE.search(right_text) or _NAMES.search(right_text))
    ):
        return True
    aside = _ASIDE.match(text, before[1])
    return bool(aside) and not _STARTS.match(text[slice(*before)]) and not _NAMES.search(text[left:right])


def _coordinated(request: str, start: int, end: int, nouns: Sequence[str], verb: str = "") -> list[Clause]:
    """Nouns under one verb ("list the issues, releases and commits of …") as a clause each."""
    text = request[start:end]
    clause = _clause(request, start, end)
    whole = clause._replace(text=f"{verb} {clause.text}".lstrip())
    joint = _AND.search(text)
    if not joint or _STARTS.match(text[joint.end() :]):
        return [whole]
    left, right = text[: joint.start()], text[joint.end() :]
    first, second = _noun(left, nouns), _noun(_AND.split(right)[0], nouns)
    if not first or not second or first.rstrip("s") == second.rstrip("s"):
        return [whole]
    found = _VERB.match(_LEAD.sub("", left))
    verb = found[1] if found else verb or "show"
    rest = _coordinated(request, start + joint.end(), end, nouns, verb)
    named = _clause(request, start, start + joint.start())
    return [named if found else named._replace(text=f"{verb} {named.text}".lstrip()), *rest]


def _noun(text: str, nouns: Sequence[str]) -> str | None:
    lower = spelled_out(text).lower()
    return next((noun for noun in nouns if re.search(rf"(?<![\w-]){re.escape(noun)}(?![\w-])", lower)), None)


def _clause(request: str, start: int, end: int) -> Clause:
    text = request[start:end]
    lead = _LEAD.match(text)
    stripped = text[lead.end() :] if lead and lead.end() < len(text) else text
    return Clause(stripped.strip(" ,;\n"), start, end)
