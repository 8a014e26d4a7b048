"""The parts of a request with the tools for them: which of them are one, and the words that are handed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from utils.llm.offline import followup
from utils.llm.offline.clauses import Clause
from utils.llm.offline.conversation import Call
from utils.llm.offline.search_terms import search_terms
from utils.llm.offline.tools import ToolSpec
from utils.llm.offline.words import words


@dataclass(frozen=True, slots=True)
class Step:
    """One clause with its tool and arguments.

    No tool: nothing fits, and `why` may say more. `missing`: what has to be asked for. `then`: the tool for the row
    that this one finds. `excerpt`: what is searched for in place of a clause that is too long for its tool. `unmet`: what the
    call leaves out of the clause.
    """

    clause: Clause
    tool: ToolSpec | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    then: ToolSpec | None = None
    excerpt: str = ""
    unmet: tuple[str, ...] = ()
    why: str = ""


def merged(steps: Sequence[Step], request: str) -> list[Step]:
    """Neighbouring parts of one item for the same agent or library as one request, since those take several at once."""
    found: list[Step] = []
    for step in steps:
        last = found[-1] if found else None
        several = step.tool is not None and (step.tool.delegates or step.tool.is_library)
        if last and several and last.tool == step.tool and last.clause.item == step.clause.item:
            whole = request[last.clause.start : step.clause.end].strip(" ,")
            clause = last.clause._replace(text=whole, end=step.clause.end, condition="")
            found[-1] = replace(last, clause=clause)
        else:
            found.append(step)
    return found


def sent(step: Step, request: str, *, whole: bool, before: Call | None = None) -> Step:
    """A step whose agent or library gets the user's own words: the message where it is `whole` for it, else its part of the message.

    What a part is read by has lost the words around it ("first", "and also"), or has a verb of another part; what is sent has not. A question that
    goes on with the one before it ("and how do I test it?") is searched for with that one, the call `before`.
    """
    tool, clause = step.tool, step.clause
    if tool is None or step.missing or step.excerpt or not (tool.delegates or tool.is_library):
        return step
    assert tool.text_parameter is not None
    name = tool.text_parameter.name
    sought = search_terms(clause.text, keep_question=True) if tool.is_library else None
    if sought == step.arguments.get(name) and words(sought or "") != words(clause.text):
        return step  # the words that a search is asked for: "search the docs for …"
    text = request if whole else clause.text if clause.condition else request[clause.start : clause.end]
    if before is not None and before.tool == tool.name and followup.goes_on(text):
        text = f"{before.arguments.get(name, '')} {text}"
    return replace(step, arguments={**step.arguments, name: text.strip(" ,;\n")})


def made(steps: Sequence[Step]) -> list[Step]:
    """The steps that calls were made for; two with the same call are one, which leaves out what either does."""
    found: dict[str, Step] = {}
    for step in steps:
        if step.tool and not step.missing:
            usual = {p.name: p.default for p in step.tool.parameters}
            said = {name: value for name, value in step.arguments.items() if value != usual.get(name)}
            key = f"{step.tool.name} {said}"
            same = found.get(key, step)
            found[key] = replace(same, unmet=tuple(dict.fromkeys((*same.unmet, *step.unmet))))
    return list(found.values())
