"""Parts that are wanted under a condition: "if not, …", "otherwise …", "If a/b has no open issues, …". It is told and not weighed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from utils.llm.offline import entities
from utils.llm.offline.changes import asked_change
from utils.llm.offline.clauses import Clause
from utils.llm.offline.grammar import FORMS
from utils.llm.offline.links import links_in_words


def condition(text: str, *, first: bool = False) -> re.Match[str] | None:
    """The condition that a text is or begins with: on what the part before it finds, where it is not the `first`, or on a repository."""
    own = FORMS["own"].match(text)
    named = own and entities.repository(links_in_words(own[1]))
    back = None if first else FORMS["back"].match(text)
    return back or (own if named and not asked_change(text) else None)


def with_conditions(clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses with conditions as such; one that nothing follows is a part of its own."""
    found: list[Clause] = []
    told: Clause | None = None
    for clause in clauses:
        match = condition(clause.text, first=not found)
        if told is not None:
            found.append(clause._replace(start=told.start, condition=told.text.strip(" ,:;")))
            told = None
        elif match is None:
            found.append(clause)
        elif rest := clause.text[match.end() :]:
            found.append(clause._replace(text=rest, condition=match[0].strip(" ,:;")))
        else:
            told = clause
    return found if told is None else [*found, told]
