"""The answer to a request, out of the results of its calls: one section a part, in the order of the request, long ones last."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from utils.llm.offline.answer import phrases
from utils.llm.offline.answer.blocks import demoted
from utils.llm.offline.answer.passages import SCREEN, briefly, passages_text
from utils.llm.offline.answer.records import cell, fenced, items_text, joined, record_text, shortened
from utils.llm.offline.arguments import repository_of
from utils.llm.offline.clauses import Clause
from utils.llm.offline.conversation import Call, Turn
from utils.llm.offline.grammar import FORMS, LEXICON
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.steps import Step, made
from utils.llm.offline.tools import NAMES
from utils.llm.offline.unmet import OF_ANY_ROWS
from utils.llm.offline.words import content_stems, is_foreign
from utils.messages.results import Articles, Items, Record, ToolProblem, dump_result, parse_result

_NO_LIMITS = frozenset({"limit", "per_page", "page"})
_NAMING = frozenset({"owner", "repo", "repository", "query"})
_BY_NAME = frozenset({"releases", "branches"})
_NAME = re.compile(r"(?<![\w./-])[\w.-]*\w(?:/[\w.-]*\w)*")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+[\w.-]*", re.IGNORECASE)
GLIMPSE = 3
"""Rows that are shown of lists whose numbers are asked for."""
ROWS = 30
"""Rows of all lists of an answer of several parts, which share them: a screen."""
NO_RESULT = "That was interrupted before it returned anything."
EMPTY = "It returned nothing."


def compose(turn: Turn, steps: Sequence[Step], calls: Sequence[Call], similarity: Similarity) -> str:
    """The Markdown answer, without what the user has read already. Parts that could not be asked for are named at the end."""
    first, calls = _comparison(turn.request, calls)
    first += [phrases.SEARCHED_FOR.format(step.excerpt) for step in steps if step.excerpt]
    if is_foreign(turn.request) and any(parse_result(call.result or "") for call in calls):
        first.insert(0, phrases.ENGLISH_ONLY)
    if turn.came_along and not any(phrases.CAME_ALONG in (call.result or "") for call in calls):
        first.insert(0, phrases.CAME_ALONG)
    done = made(steps)
    whole = Step(Clause(turn.request, 0, len(turn.request)))
    parts = list(zip(calls, [*done, *(whole for _ in calls)], strict=False))
    parts = [part for part in parts if not part[0].shown] or parts
    rows = _share([call for call, _ in parts])
    bodies = [
        joined(phrases.not_weighed(step.clause.condition), _body(call, step, turn, similarity, rows))
        for call, step in parts
    ]
    rest = left_over(steps) if done else []
    if len(bodies) > 1:
        bodies = [
            f"## {_asked(step)}\n\n{demoted(briefly(step.clause.text, body))}"
            for (_, step), body in zip(parts, bodies, strict=True)
        ]
        bodies.sort(key=lambda section: section.count("\n") > SCREEN)
    return "\n\n".join([*first, *bodies, *rest])


def _comparison(request: str, calls: Sequence[Call]) -> tuple[list[str], Sequence[Call]]:
    """How many of the same each repository has, where the request compares them, and the calls with their first rows alone."""
    found = [(repository_of(call.arguments), parse_result(call.result or "")) for call in calls]
    counted = {"/".join(named): each for named, each in found if named and isinstance(each, Items)}
    kinds = {each.kind for each in counted.values()}
    if len(counted) < max(2, len(calls)) or len(kinds) > 1 or not FORMS["compares"].search(request):
        return [], calls
    numbers = {
        name: (each.total or len(each.items), each.total is None and bool(each.note and each.items))
        for name, each in counted.items()
    }
    few = map(_few, counted.values())
    calls = [replace(call, result=dump_result(each)) for call, each in zip(calls, few, strict=True)]
    return [phrases.comparison(kinds.pop(), numbers)], calls


def _share(calls: Sequence[Call]) -> int | None:
    """How many rows each of several lists may show, so that the short ones are whole; `None` where there is room for all."""
    lists = [each for call in calls if isinstance(each := parse_result(call.result or ""), Items)]
    longest = max((len(each.items) for each in lists), default=0)
    room = (n for n in range(longest, GLIMPSE, -1) if sum(min(len(each.items), n) for each in lists) <= ROWS)
    return next(room, GLIMPSE) if len(lists) > 1 else None


def _few(found: Items, most: int = GLIMPSE) -> Items:
    """The first rows of a list of which the number is asked for."""
    return found.model_copy(update={"items": found.items[:most], "total": found.total or len(found.items)})


def _body(call: Call, step: Step, turn: Turn, similarity: Similarity, most: int | None) -> str:
    """What a call returned, as Markdown, after what the answer leaves out of the request. `most`: rows of a list that says no number."""
    text = (call.result or "").strip()
    match parse_result(text):
        case None if call.result is None:
            return NO_RESULT
        case None:
            return fenced(shortened(text), "json") if text.startswith(("{", "[{")) else text or EMPTY
        case Articles() as found:
            return passages_text(_question(call, step, turn), found, similarity)
        case Items() as listed:
            listed, left_out = _one_by_name(listed, step)
            asked = _asked(step)
            if FORMS["counts"].search(asked) and not FORMS["lists"].search(asked):
                listed = _few(listed)
            elif most and len(listed.items) > most and not NAMES["limit"] & call.arguments.keys():
                listed = _few(listed.model_copy(update={"note": phrases.MORE_ALONE}), most)
            rows, kind, shown = listed.items, listed.kind, items_text(listed, _context(call, step))
        case Record() as record:
            rows, kind, left_out = [record.item], record.kind, step.unmet
            shown = record_text(record, turn.request)
        case ToolProblem() as problem:
            return problem.message
    stems = _stems_of(rows, kind)
    said = {part: set(content_stems(part)) for part in left_out}
    left_out = [
        part
        for part in said
        if not said[part] & stems or said[part] - stems - OF_ANY_ROWS or FORMS["order"].search(part)
    ]
    return f"{phrases.not_applied(left_out)}\n\n{shown}" if left_out else shown


def _stems_of(rows: Sequence[Mapping[str, Any]], kind: str) -> set[str]:
    """Stems of the names of what rows have, and of what all of them say; a state answers every question for a state."""
    names = [kind, *(name.replace("_", " ") for name in rows[0])] if rows else [kind]
    said = (
        set.intersection(*(set(content_stems(json.dumps(row, default=str))) for row in rows))
        if rows
        else set()
    )
    states = LEXICON["values"].values() if rows and NAMES["state"] & rows[0].keys() else ()
    return said | set(content_stems(" ".join([*names, *(word for each in states for word in each)])))


def _one_by_name(found: Items, step: Step) -> tuple[Items, Sequence[str]]:
    """The release or branch alone that a part names: "the notes of v1.2.0"; and what the answer leaves out of it then."""
    said, left_out = step.clause.reading, step.unmet
    if found.kind not in _BY_NAME or found.kind in said.lower():
        return found, left_out
    named = {word.lower(): word for word in _NAME.findall(said)}
    rows = [row for row in found.items if str(row.get("tag") or row.get("name") or "").lower() in named]
    if len(rows) == 1:
        some = found.model_copy(update={"items": rows, "total": found.total or len(found.items)})
        return some, [part for part in left_out if part.lower() not in named]
    versions = [word for word in named.values() if found.kind == "releases" and _VERSION.fullmatch(word)]
    return found, list(dict.fromkeys([*left_out, *versions]))


def _question(call: Call, step: Step, turn: Turn) -> str:
    """What passages are chosen for: the query, without what an earlier turn asked that stands before it, unless the words only limit that or say where."""
    query = str(call.arguments.get("query") or call.arguments.get("question") or "")
    of_earlier = query.endswith(step.clause.text) and query not in turn.request
    leans = any(FORMS[name].search(step.clause.text) for name in ("limits_the_question", "there"))
    if of_earlier and not leans:
        return step.clause.text
    return query or _asked(step)


def _asked(step: Step) -> str:
    """What a call was made for, in the user's words."""
    text = " ".join(step.clause.text.split()).rstrip(" .,;:")
    return text[:1].upper() + text[1:]


def _context(call: Call, step: Step) -> str:
    """What a call was limited to, for people: "octocat/hello-world, open"."""
    named = repository_of(call.arguments)
    shown = ["/".join(named)] if named else []
    taken = _NO_LIMITS | (_NAMING if named else set())
    state = {p.name: p.default for p in step.tool.parameters if p.name == "state"} if step.tool else {}
    for name, value in {**state, **call.arguments}.items():
        if name in taken or value in ("", None, []):
            continue
        said, plain = cell(value), name.replace("_", " ")
        if isinstance(value, bool):
            shown.append(plain if value else f"no {plain}")
        else:
            shown.append(said if name in {"state", "status"} else f"{plain} {said.removesuffix(' 00:00')}")
    return ", ".join(shown)


def left_over(steps: Sequence[Step]) -> list[str]:
    """What was not done, each part with the reason, and what has to be known."""
    refused = [
        phrases.NOT_DONE.format(step.clause.text.strip(" .?!"), step.why or "I cannot help with that.")
        for step in steps
        if step.tool is None
    ]
    asked = (phrases.question(step.missing) for step in steps if step.tool and step.missing)
    return [*refused, *dict.fromkeys(asked)]
