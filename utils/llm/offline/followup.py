"""Messages that only make sense after the one before: "and the closed ones?", "what about …?", "the second one"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from utils.llm.offline import entities
from utils.llm.offline.arguments import flags, repository_arguments, repository_of
from utils.llm.offline.conversation import Call
from utils.llm.offline.grammar import FORMS, ORDINALS, WORDS
from utils.llm.offline.tools import ToolSpec
from utils.llm.offline.words import content_stems, words
from utils.messages.results import Items, parse_result

Row = dict[str, Any]
"""One row of a list that a tool returned."""
_BAD = frozenset({"failure", "failed", "timed_out", "startup_failure"})
LONGEST = 12
"""Words of a follow-up at most, unless it picks a row: longer ones stand for themselves."""
ADDED = 2
"""Content words that a follow-up may add and still need the question before it."""


def follows_up(text: str) -> bool:
    """Whether a message leans on the one before."""
    listed = words(text)
    if not listed or (len(listed) > LONGEST and not FORMS["ordinal"].search(text)):
        return False
    if FORMS["opening"].match(text) or points_back(text) or FORMS["fewer"].search(text):
        return True
    return is_bare(text)


def goes_on(text: str) -> bool:
    """Whether a question cannot be looked up without the one before it.

    It speaks of the same thing ("and how do I test it?"), adds little to it ("and on Kubernetes?"), or is a part of a sentence ("on which day?").
    """
    stems = content_stems(text)
    if FORMS["opening"].match(text):
        return points_back(text) or len(stems) <= ADDED
    return len(stems) < ADDED and FORMS["fragment_question"].match(text) is not None


def points_back(text: str) -> bool:
    """Whether a text speaks of what was shown before: by a pronoun or a place in a list."""
    return bool(FORMS["anaphora"].search(text) or FORMS["ordinal"].search(text))


def is_bare(text: str) -> bool:
    """Whether a message is a value and nothing else: a repository, a number, a state, a name."""
    rest = text.replace(entities.repository_text(text) or "\0", " ")
    rest = FORMS["state_words"].sub(" ", re.sub(r"#?\d+", " ", rest))
    left = set(words(rest)) - WORDS["stop"] - {"repo", "repository", "number", "many"}
    return not left or len(words(text)) == 1


def without_opening(text: str) -> str:
    """A follow-up without "and", "what about" and the like."""
    return FORMS["opening"].sub("", text).strip(" ,") or text


def picked_row(text: str, call: Call) -> Row | None:
    """The row of a result that a text points at: "the second one", "#28", "it" where there is one."""
    rows = _rows(call)
    if match := FORMS["ordinal"].search(text):
        return _at(rows, match[1].lower())
    if len(rows) == 1 and FORMS["of_the_one"].search(text):
        return rows[0]
    wanted = {number.value for number in entities.numbers(text)}
    return next((row for row in rows if {row.get("number"), row.get("id")} & wanted), None)


def second_call(tool: ToolSpec | None, text: str, call: Call) -> tuple[ToolSpec, dict[str, Any]] | None:
    """The call that shows the row which a list was made to find: by its number, the first that failed, or the first."""
    rows = _rows(call)
    if any(number.counted for number in entities.numbers(text)):
        rows = [row for row in [picked_row(text, call)] if row]
    elif FORMS["failed"].search(text):
        rows = [row for row in rows if {str(row.get("conclusion")), str(row.get("status"))} & _BAD]
    return detail_call(text, rows[0], call, [tool] if tool else []) if rows else None


def _rows(call: Call) -> list[Row]:
    result = parse_result(call.result or "")
    return result.items if isinstance(result, Items) else []


def _at(rows: Sequence[Row], word: str) -> Row | None:
    places = {"newest": 0, "latest": 0, "last": len(rows) - 1, "oldest": len(rows) - 1}
    places |= {ordinal: index for index, ordinal in enumerate(ORDINALS)}
    index = places[word] if word in places else int(re.sub(r"\D", "", word)) - 1
    return rows[index] if 0 <= index < len(rows) else None


def detail_call(
    text: str, row: Row, call: Call, tools: Sequence[ToolSpec]
) -> tuple[ToolSpec, dict[str, Any]] | None:
    """The tool that shows one row of a list in full, with its arguments; `None` where no tool takes what the row has."""
    listed = " ".join(call.tool.split("_")[1:]).rstrip("s")
    fitting = [tool for tool in tools if tool.shows_one and row_arguments(tool, row, call) is not None]
    tool = next((each for each in fitting if each.noun == listed), next(iter(fitting), None))
    return (tool, {**flags(tool, text), **(row_arguments(tool, row, call) or {})}) if tool else None


def row_arguments(tool: ToolSpec, row: Row, call: Call) -> dict[str, Any] | None:
    """The arguments with which a tool shows a row of a list; `None` where the row has not all of them.

    A row of runs has an id and a number: each is taken for the argument of its kind.
    """
    known = repository_arguments(tool, repository_of(call.arguments))
    for parameter in tool.parameters:
        own = "id" if parameter.name.endswith("_id") or "number" not in row else "number"
        value = row.get(parameter.name, row.get(own) if parameter.kind == "integer" else None)
        if parameter.required and value is not None:
            known[parameter.name] = value
    return known if known.keys() >= set(tool.needed) else None
