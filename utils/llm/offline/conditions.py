"""Parts that are wanted under a condition: "if not, …", "otherwise …", "If a/b has no open issues, …"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from utils.llm.offline import entities
from utils.llm.offline.changes import asked_change
from utils.llm.offline.clauses import Clause, opens_a_request
from utils.llm.offline.grammar import FORMS
from utils.llm.offline.links import links_in_words


def conditional(text: str) -> bool:
    """Whether a text is or begins with a condition."""
    own = FORMS["own"].match(text)
    return bool(FORMS["back"].match(text) or (own and entities.repository(links_in_words(own[1]))))


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
    return found if pending is None or (found and found[-1].end == pending.end) else [*found, pending]


def holds(condition: str, check: str, found: bool) -> bool | None:
    """Whether a condition holds where a check ("are there any …?") has found something or nothing; `None` where that does not tell."""
    tells = FORMS["weighed"].search(condition) and FORMS["whether_any"].search(check)
    if not tells or opens_a_request(condition):
        return None
    return found != bool(FORMS["none"].search(condition))
