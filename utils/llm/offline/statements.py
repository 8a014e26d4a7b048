"""Parts of a request that ask for nothing of their own: background, a few words more, and conditions ("if not, …")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from utils.llm.offline import entities
from utils.llm.offline.changes import asked_change, asks_nothing
from utils.llm.offline.clauses import Clause
from utils.llm.offline.followup import LONGEST, points_back
from utils.llm.offline.grammar import FORMS, WORDS
from utils.llm.offline.particulars import links_in_words
from utils.llm.offline.words import content_stems, words
from utils.messages.sentences import orders


def with_conditions(clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses with conditions as such; one that names a repository is a part of its own before what depends on it."""
    found: list[Clause] = []
    pending: Clause | None = None
    for clause in clauses:
        if pending is not None:
            found.append(clause._replace(start=pending.start, condition=pending.text))
            pending = None
            continue
        match = FORMS["back"].match(clause.text) if found else None
        own = None if match or asked_change(clause.text) else FORMS["own"].match(clause.text)
        if own and entities.repository(links_in_words(own[1])):
            found.append(clause._replace(text=re.sub(r"\b(?:no|any)\s+", "any ", own[1])))
            match = own
        if match is None:
            found.append(clause)
            continue
        rest = clause.text[match.end() :]
        condition = match[0].strip(" ,:;")
        if rest:
            found.append(clause._replace(text=rest, condition=condition))
        else:
            pending = clause._replace(text=condition)
    return [*found, pending] if pending else found


FEW = 2
"""Words that are too few to state something, and those of a question that says little without what is told before it."""


def with_statements(clauses: Sequence[Clause], request: str) -> list[Clause]:
    """The requests among the clauses; what only states something belongs to the request before it, else after it, in its item."""
    items = groupby(clauses, key=lambda clause: max(clause.item, 1))  # a preface belongs to the first item
    return [found for _, item in items for found in _of_one_item(list(item), request)]


def _of_one_item(clauses: Sequence[Clause], request: str) -> list[Clause]:
    found: list[Clause] = []
    before: Clause | None = None
    for clause in clauses:
        alone = len(clauses) == 1 or FORMS["back"].match(clause.text)
        states = not alone and (_is_empty(clause.text) or _only_states(clause.text))
        background = clause != clauses[-1] and FORMS["tells"].match(clause.text)
        if states and found and not before and not background:
            found[-1] = _extended(found[-1], clause.end, request)
        elif states and clause != clauses[-1]:
            before = before or clause
        else:
            found.append(clause if before is None else _preceded(clause, before, request))
            before = None
    return found


def _is_empty(text: str) -> bool:
    """Whether a text says nothing beside another, but at most how the answer shall be put: "a plain yes or no"."""
    aside = FORMS["smalltalk_aside"].fullmatch(text.strip(" .!"))
    return aside is not None or not set(words(text)) - WORDS["stop"] - WORDS["empty"]


def _only_states(text: str) -> bool:
    if orders(text) or FORMS["asks_inside"].search(text):
        return False
    if len(words(text)) == 1 or FORMS["states"].search(text):
        return True
    if not asks_nothing(text):
        return False
    of_themselves = FORMS["of_themselves"].match(text) is not None
    if entities.repository_text(text) is not None:
        return of_themselves and not FORMS["has"].search(text)
    said = len(words(text))
    tells = FORMS["of_something"].match(text) or said > LONGEST or not points_back(text)
    return of_themselves or (said > FEW and bool(tells))


def _preceded(clause: Clause, before: Clause, request: str) -> Clause:
    """A clause after what is told before it, which it is read with where it says nothing alone: "I lost my key. How?"."""
    alone = set(words(clause.text)) - WORDS["stop"] - WORDS["empty"]
    named = entities.repository_text(before.text) and not entities.repository_text(clause.text)
    if points_back(clause.text) and (named or len(content_stems(clause.text)) <= FEW):
        alone = set()
    text = clause.text if alone else request[before.start : clause.end].strip(" ,;\n")
    return clause._replace(text=text, start=before.start)


def _extended(clause: Clause, end: int, request: str) -> Clause:
    """A clause with what the user says after it, to `end`."""
    at = request.find(clause.text, clause.start)
    text = request[at:end] if at >= 0 else clause.text + request[clause.end : end]
    return clause._replace(text=text.strip(" ,;\n"), end=end)
