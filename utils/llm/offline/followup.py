"""Messages that only make sense after the one before: "and the closed ones?", "what about …?", "the second one"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from utils.llm.offline import entities
from utils.llm.offline.arguments import repository_arguments, repository_of
from utils.llm.offline.conversation import Call
from utils.llm.offline.grammar import FORMS, ORDINALS, WORDS
from utils.llm.offline.tools import NAMES, ToolSpec
from utils.llm.offline.words import content_stems, words
from utils.messages.results import Articles, Items, parse_result

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
    if FORMS["there"].search(text):
        return True
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


def picked_row(text: str, call: Call) -> dict[str, Any] | None:
    """The row of the last result that a message points at: "the second one", "#28", "it" where there is one."""
    result = parse_result(call.result or "")
    if not isinstance(result, Items) or not result.items:
        return None
    match = FORMS["ordinal"].search(text)
    if match:
        return _at(result.items, match[1].lower())
    if len(result.items) == 1 and FORMS["of_the_one"].search(text):
        return result.items[0]
    wanted = {number.value for number in entities.numbers(text)}
    return next((row for row in result.items if row.get("number") in wanted or row.get("id") in wanted), None)


def picked_document(
    text: str, call: Call, tools: Sequence[ToolSpec]
) -> tuple[ToolSpec, dict[str, Any]] | None:
    """The call that reads the best document of the last search in full: "show me that whole document".

    A text that says more than that only speaks of it: "can a colleague on another machine open that page?".
    """
    says = content_stems(FORMS["reads"].sub(" ", FORMS["document"].sub(" ", text)))
    if not FORMS["document"].search(text) or len(says) >= ADDED:
        return None
    result = parse_result(call.result or "")
    if not isinstance(result, Articles) or not result.articles:
        return None
    reader = next((tool for tool in tools if tool.needed and set(tool.needed) <= NAMES["document"]), None)
    return (reader, {reader.needed[0]: result.articles[0].url}) if reader else None


def _at(rows: Sequence[dict[str, Any]], word: str) -> dict[str, Any] | None:
    if word in {"newest", "latest", "most recent"}:
        return rows[0]
    if word in {"last", "oldest"}:
        return rows[-1]
    index = ORDINALS.index(word) if word in ORDINALS else int(re.sub(r"\D", "", word)) - 1
    return rows[index] if 0 <= index < len(rows) else None


def detail_call(
    row: Mapping[str, Any], call: Call, tools: Sequence[ToolSpec]
) -> tuple[ToolSpec, dict[str, Any]] | None:
    """The tool that shows one row of a list in full, with its arguments; `None` where no tool takes what the row has."""
    listed = " ".join(call.tool.split("_")[1:])
    fitting = [
        (tool, arguments)
        for tool in tools
        if tool.shows_one and (arguments := row_arguments(tool, row, call)) is not None
    ]
    same = (pair for pair in fitting if pair[0].noun.rstrip("s") == listed.rstrip("s"))
    exact = (pair for pair in fitting if row.keys() & pair[0].identifiers & set(pair[0].needed))
    return next(same, None) or next(exact, None)


def row_arguments(tool: ToolSpec, row: Mapping[str, Any], call: Call) -> dict[str, Any] | None:
    """The arguments with which a tool shows a row of a list; `None` where the row has not all of them.

    A row of runs has an id and a number: each is taken for the argument of its kind.
    """
    needed = [p for p in tool.parameters if p.required]
    known = repository_arguments(tool, repository_of(call.arguments))
    for parameter in needed:
        value = row.get(parameter.name)
        if value is None and parameter.kind == "integer":
            value = row.get("id") if parameter.name.endswith("_id") else row.get("number", row.get("id"))
        if value is not None:
            known[parameter.name] = value
    return known if all(p.name in known for p in needed) else None
