"""The answer to a request, out of the results of its calls: one section a part, in the order of the request, long ones last."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from utils.llm.offline.answer import phrases
from utils.llm.offline.answer.blocks import demoted
from utils.llm.offline.answer.passages import SCREEN, briefly, passages_text
from utils.llm.offline.answer.records import fenced, record_text, shortened
from utils.llm.offline.answer.tables import cell, count, items_text
from utils.llm.offline.arguments import repository_of
from utils.llm.offline.conditions import holds
from utils.llm.offline.conversation import Call, Turn
from utils.llm.offline.entities import numbers
from utils.llm.offline.grammar import FORMS
from utils.llm.offline.language import is_foreign
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.steps import Step, made
from utils.llm.offline.words import content_stems
from utils.messages.results import Articles, Items, Record, Result, ToolProblem, dump_result, parse_result

_BY_NAME = frozenset({"releases", "branches"})
_NAME = re.compile(r"(?<![\w./-])[\w.-]*\w(?:/[\w.-]*\w)*")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+[\w.-]*", re.IGNORECASE)
GLIMPSE = 3
"""Rows that are shown of lists whose numbers are asked for."""
NO_RESULT = "That was interrupted before it returned anything."
EMPTY = "It returned nothing."


def compose(turn: Turn, steps: Sequence[Step], calls: Sequence[Call], similarity: Similarity) -> str:
    """The Markdown answer. Parts that could not be asked for are named at the end."""
    first, calls = _comparison(turn.request, calls)
    first += [phrases.searched_for(step.excerpt) for step in steps if step.excerpt]
    done = made(steps)
    parts = [
        (
            _asked(done, index, turn),
            _weighed(_body(call, done, index, turn, similarity), done, calls, index),
        )
        for index, call in enumerate(calls)
    ]
    rest = left_over(steps) if done else []
    if is_foreign(turn.request) and any(parse_result(call.result or "") for call in calls):
        first.insert(0, phrases.ENGLISH_ONLY)
    if len(parts) == 1:
        return "\n\n".join([*first, parts[0][1], *rest])
    sections = [f"## {title}\n\n{demoted(briefly(body))}" for title, body in parts]
    sections.sort(key=lambda section: section.count("\n") > SCREEN)
    return "\n\n".join([*first, *sections, *rest])


def _weighed(body: str, steps: Sequence[Step], calls: Sequence[Call], index: int) -> str:
    """A part that was wanted under a condition: left out where what came before it says so, and said to be shown in any case
    where that does not tell.
    """
    condition = steps[index].clause.condition if index < len(steps) else ""
    checks = [n for n in range(min(index, len(steps))) if not steps[n].clause.condition]
    if not condition or not checks:
        return body
    if steps[checks[-1]].unmet:
        return phrases.not_done(f"{condition}, {steps[index].clause.text}", phrases.NOT_KNOWN)
    result = parse_result(calls[checks[-1]].result or "")
    if not isinstance(result, Items):
        return f"{phrases.not_weighed(condition)}\n\n{body}"
    applies = holds(condition, steps[checks[-1]].clause.text, bool(result.items))
    if applies is None:
        return f"{phrases.not_weighed(condition)}\n\n{body}"
    return body if applies else phrases.does_not_apply(condition, count(result))


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
    said = [phrases.comparison(kinds.pop(), numbers)]
    return said, calls if FORMS["lists"].search(request) else list(map(_glimpse, calls, counted.values()))


def _glimpse(call: Call, found: Items) -> Call:
    return replace(call, result=dump_result(_few(found)))


def _few(found: Items) -> Items:
    """The first rows of a list of which the number is asked for."""
    return found.model_copy(update={"items": found.items[:GLIMPSE], "total": found.total or len(found.items)})


def _by_state(found: Items, asked: str) -> Items:
    """The first rows of a list of which the number is asked for; where several states are, the number of each."""
    states = Counter(str(row.get("state")) for row in found.items)
    named = {match[0].lower() for match in FORMS["state_words"].finditer(asked)} & states.keys()
    few = _few(found)
    if found.note or len(named) < 2:  # noqa: PLR2004 - one state is a condition, two are compared
        return few
    return few.model_copy(update={"note": phrases.of_each_state(states)})


def result_text(result: Result, question: str, context: str, similarity: Similarity) -> str:
    """One typed result as Markdown."""
    match result:
        case Articles():
            return passages_text(question, result, similarity)
        case Items():
            return items_text(result, context)
        case Record():
            return record_text(result, question)
        case ToolProblem():
            return result.message


def _body(call: Call, steps: Sequence[Step], index: int, turn: Turn, similarity: Similarity) -> str:
    if call.result is None:
        return NO_RESULT
    result = parse_result(call.result)
    if result is not None:
        left_out: Sequence[str] = (
            steps[index].unmet if index < len(steps) and not isinstance(result, Articles) else ()
        )
        if isinstance(result, Items):
            result, left_out = _one_by_name(
                result, steps[index].reading if index < len(steps) else "", left_out
            )
            if FORMS["counts"].search(_asked(steps, index, turn)) and not FORMS["lists"].search(
                _asked(steps, index, turn)
            ):
                result = _by_state(result, _asked(steps, index, turn))
        left_out = [part for part in left_out if not _is_shown(part, result)]
        asked = turn.request if isinstance(result, Record) else _question(call, steps, index, turn)
        shown = result_text(
            result, asked, _context({**_default_state(steps, index), **call.arguments}), similarity
        )
        return f"{phrases.not_applied(left_out)}\n\n{shown}" if left_out else shown
    text = call.result.strip()
    if text.startswith(("{", "[{")):
        return fenced(shortened(text), "json")
    return text or EMPTY


def _is_shown(part: str, result: Result) -> bool:
    """Whether words ask for nothing but what each row or the record shows: "tag"."""
    rows = result.items if isinstance(result, Items) else [result.item] if isinstance(result, Record) else []
    shown = {stem for row in rows[:1] for name in row for stem in content_stems(name.replace("_", " "))}
    return bool(asked := set(content_stems(part))) and asked <= shown


def _default_state(steps: Sequence[Step], index: int) -> dict[str, Any]:
    """The state that a list is limited to where the request says none."""
    tool = steps[index].tool if index < len(steps) else None
    return {p.name: p.default for p in tool.parameters if p.name == "state" and p.default} if tool else {}


def _one_by_name(found: Items, said: str, left_out: Sequence[str]) -> tuple[Items, Sequence[str]]:
    """The release or branch alone that a sentence names: "the notes of v1.2.0"; and what is left out of the sentence then."""
    if counted := {each.value for each in numbers(said) if each.counted and found.kind == "workflow runs"}:
        return found, [
            *left_out,
            *(f"#{each}" for each in counted - {row.get("number") for row in found.items}),
        ]
    if found.kind not in _BY_NAME or found.kind in said.lower():
        return found, left_out
    named = {word.lower() for word in _NAME.findall(said)}
    rows = [row for row in found.items if str(row.get("tag") or row.get("name") or "").lower() in named]
    if len(rows) == 1:
        some = found.model_copy(update={"items": rows, "total": found.total or len(found.items)})
        return some, [part for part in left_out if part.lower() not in named]
    missing = [word for word in _NAME.findall(said) if found.kind == "releases" and _VERSION.fullmatch(word)]
    missing += [match[1] for match in FORMS["compose_called"].finditer(said)]
    return found, list(dict.fromkeys([*left_out, *missing]))


def _question(call: Call, steps: Sequence[Step], index: int, turn: Turn) -> str:
    query = str(call.arguments.get("query") or call.arguments.get("question") or "")
    asked = steps[index].clause.text if index < len(steps) else ""
    return asked if asked and query.endswith(asked) else query or _asked(steps, index, turn)


def _asked(steps: Sequence[Step], index: int, turn: Turn) -> str:
    """What a call was made for, in the user's words."""
    text = steps[index].clause.text if index < len(steps) else turn.request
    text = " ".join(text.split()).rstrip(" .,;:")
    return text[:1].upper() + text[1:]


def _context(arguments: Mapping[str, Any]) -> str:
    """What a call was limited to, for people: "octocat/hello-world, open"."""
    named = repository_of(arguments)
    shown = ["/".join(named)] if named else []
    taken = (
        {"owner", "repo", "repository", "limit", "per_page", "page", "query"}
        if named
        else {"limit", "per_page", "page"}
    )
    for name, value in arguments.items():
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
        phrases.not_done(step.clause.text.strip(" .?!"), step.why or "I cannot help with that.")
        for step in steps
        if step.tool is None
    ]
    asked = (phrases.question(step.missing) for step in steps if step.tool and step.missing)
    return [*refused, *dict.fromkeys(asked)]
