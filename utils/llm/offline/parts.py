"""The parts of a request: what each asks for with all that leans on it, what is told beside it, and under what it is wanted ("if not, …").

Whether a part leans on the one before it is decided here, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from utils.llm.offline import entities
from utils.llm.offline.changes import asked_change, asks_nothing
from utils.llm.offline.clauses import Clause, opens_a_request
from utils.llm.offline.followup import LONGEST, points_back
from utils.llm.offline.grammar import FORMS, WORDS
from utils.llm.offline.particulars import links_in_words
from utils.llm.offline.words import content_stems, words
from utils.messages.sentences import orders

FEW = 2
"""Words of a question that says little without what is told before it."""
_NAMES = re.compile(r"[\w-]+/[\w.-]+|#?\d+|x{3,}")


def parts(clauses: Sequence[Clause], request: str) -> list[Clause]:
    """The requests among the clauses, each with what leans on it and what only tells something, before it or after it in its item."""
    found: list[Clause] = []
    told = False  # whether the last one found only tells something
    conditioned = _with_conditions(clauses)
    for at, clause in enumerate(conditioned):
        last, beside = found[-1] if found else None, _of_one_item(clause, *conditioned[at + 1 : at + 2])
        tells = not clause.condition and _tells(clause.text)
        after = last and not told and tells and _of_one_item(clause, last)
        if last and (
            leans(clause, last, conditioned[at - 1], request)
            or (after and not (beside and FORMS["tells"].match(clause.text)))
        ):
            found[-1] = _extended(last, clause.end, request)
            told = told and tells
            if told and not beside and found[1:] and _of_one_item(clause, found[-2]):
                found[-2:] = [_extended(found[-2], clause.end, request)]
        else:
            found.append(_preceded(clause, found.pop(), request) if told else clause)
            told = tells and beside
    return found


def _of_one_item(clause: Clause, *others: Clause) -> bool:
    """Whether a clause has a neighbour in its item of a numbered list; a preface belongs to the first item."""
    return any(max(each.item, 1) == max(clause.item, 1) for each in others)


def leans(clause: Clause, last: Clause, before: Clause, request: str) -> bool:
    """Whether a part says or asks more of what the `last` request finds, and names nothing itself: "Who wrote it?", "Only the open ones.".

    `before` is the clause that it follows.
    """
    text, left, named = (entities.quotes_hidden(each) for each in (clause.reading, before.text, last.text))
    if FORMS["fragment"].match(text):
        return not re.search(r"[/#]", text)
    if _NAMES.search(text) or FORMS["ordinal"].search(text):
        return False  # of a list one row more: "the open issues, and who opened the oldest one"
    of_it = FORMS["of_the_one"].search(text)
    if asked_change(text) or orders(text):
        known = asked_change(left) or not opens_a_request(left)
        return bool(of_it and known and not FORMS["has"].search(text))
    if points_back(text) and len(content_stems(text)) <= 1 and not FORMS["state_words"].search(text):
        return not FORMS["how_to"].search(text) or FORMS["how_to"].search(named) is not None
    if not _of_one_item(clause, before):
        return False
    if FORMS["fragment_question"].match(text) or FORMS["more_of_it"].match(request, before.end):
        return True
    of_rows = FORMS["has"].search(named) or _NAMES.search(named) or points_back(named)
    if of_rows and (clause.condition or any(map(FORMS["on_condition"].match, (left, text)))):
        rest = FORMS["on_condition"].sub("", text)
        others = FORMS["has"].search(rest) and not FORMS["of_the_one"].search(rest)
        if not (others or any(FORMS[form].search(text) for form in ("lists", "how_to", "product"))):
            return True
    if of_rows and FORMS["of_it"].search(text) and not FORMS["else"].search(text):
        return True
    other = FORMS["has"].search(left) and not (_NAMES.search(left) or of_it)
    if other or FORMS["documented"].search(text):
        return False  # "now the pull requests too, and how does …"
    return FORMS["aside"].match(request, before.end) is not None and not opens_a_request(left)


def _with_conditions(clauses: Sequence[Clause]) -> list[Clause]:
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


def _tells(text: str) -> bool:
    """Whether a text only states something, or says nothing but how the answer shall be put: "a plain yes or no"."""
    if FORMS["smalltalk_aside"].fullmatch(text.strip(" .!")) or _says_nothing(text):
        return True
    if orders(text) or FORMS["asks_inside"].search(text):
        return False
    if len(words(text)) == 1 or FORMS["states"].search(text):
        return True
    if not asks_nothing(text):
        return False
    of_themselves = FORMS["of_themselves"].match(text) is not None
    if entities.repository_text(text) is not None:
        return of_themselves and not FORMS["has"].search(text)
    taken_up = any(FORMS[form].search(text) for form in ("ordinal", "others", "there", "on_condition"))
    return of_themselves or len(words(text)) > LONGEST or not taken_up


def _says_nothing(text: str) -> bool:
    return not set(words(text)) - WORDS["stop"] - WORDS["empty"]


def _preceded(clause: Clause, before: Clause, request: str) -> Clause:
    """A clause after what is told before it, which it is read with where it says nothing alone: "I lost my key. How?"."""
    alone = not _says_nothing(clause.text)
    named = entities.repository_text(before.text) and not entities.repository_text(clause.text)
    if points_back(clause.text) and (named or len(content_stems(clause.text)) <= FEW):
        alone = False
    text = clause.text if alone else FORMS["lead"].sub("", request[before.start : clause.end]).strip(" ,;\n")
    return clause._replace(text=text, start=before.start)


def _extended(clause: Clause, end: int, request: str) -> Clause:
    """A clause with what the user says after it, to `end`."""
    at = request.find(clause.text, clause.start)
    text = request[at:end] if at >= 0 else clause.text + request[clause.end : end]
    return clause._replace(text=text.strip(" ,;\n"), end=end)
