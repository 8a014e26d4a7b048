"""Parts that are wanted under a condition: "if not, …", "otherwise …", "If a/b has no open issues, …"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from utils.llm.offline import entities
from utils.llm.offline.changes import asked_change
from utils.llm.offline.clauses import Clause, opens_a_request
from utils.llm.offline.grammar import form, pattern
from utils.llm.offline.links import links_in_words

_BACK = form("back")
_OWN = pattern(r"^\W*(?:(?:and|but)\s+)?(?:if|unless|in case|should)\s+([^,;]+?)(?:[,;]\s*(?:then\s+)?|$)")
_NONE = pattern(r"\b(?:not|no|none|nothing|otherwise|else|unless|green|fine|well)\b|n['\u2019]t\b")
_WEIGHED = pattern(r"\b(?:so|yes|no|not|none|any|nothing|otherwise|else|there|green|fine|well)\b")
_WHETHER_ANY = pattern(r"\b(?:there|any|no|for|had an?|has an?)\b")


def conditional(text: str) -> bool:
    """Whether a text is or begins with a condition."""
    own = _OWN.match(text)
    return bool(_BACK.match(text) or (own and entities.repository(links_in_words(own[1]))))


def with_conditions(clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses with conditions as such; one that names a repository is a part of its own before what depends on it."""
    found: list[Clause] = []
    pending: Clause | None = None
    for clause in clauses:
        if pending is not None:
            found.append(clause._replace(start=pending.start, condition=pending.text))
            pending = None
            continue
        back = _BACK.match(clause.text) if found else None
        own = None if back else _OWN.match(clause.text)
        if own and (asked_change(clause.text) or entities.repository(links_in_words(own[1])) is None):
            own = None
        match = back or own
        rest = clause.text[match.end() :] if match else clause.text
        condition = clause.text[: len(clause.text) - len(rest)].strip(" ,:;")
        if own:
            found.append(clause._replace(text=re.sub(r"\b(?:no|any)\s+", "any ", own[1])))
        if match and not rest:
            pending = clause._replace(text=condition)
        elif match:
            found.append(clause._replace(text=rest, condition=condition))
        else:
            found.append(clause)
    return found if pending is None or (found and found[-1].end == pending.end) else [*found, pending]


def holds(condition: str, check: str, found: bool) -> bool | None:
    """Whether a condition holds where a check ("are there any …?") has found something or nothing; `None` where that does not tell."""
    if not _WEIGHED.search(condition) or not _WHETHER_ANY.search(check) or opens_a_request(condition):
        return None
    return found != bool(_NONE.search(condition))
