"""A tool's arguments, filled from a sentence. What is not said is left to the tool's default."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from utils.llm.offline import entities
from utils.llm.offline.choices import choice, denied
from utils.llm.offline.dates import period
from utils.llm.offline.grammar import FORMS
from utils.llm.offline.links import links_in_words
from utils.llm.offline.search_terms import excerpt, search_terms
from utils.llm.offline.slots import free_word
from utils.llm.offline.tools import DELEGATING, FREE_TEXT, LIMITS, SINCE_UNTIL, Parameter, ToolSpec
from utils.llm.offline.words import spelled_out

REPOSITORY = frozenset({"repo", "repository", "repo_name", "repository_name", "full_name"})
OWNER = frozenset({"owner", "org", "organization", "organisation", "account", "username", "login"})
PERSON = frozenset({"author", "creator", "committer", "actor", "user"})
BRANCH = frozenset({"branch", "ref", "sha", "base", "head", "revision", "target"})
PATH = frozenset({"path", "file", "filename", "file_path"})
DOCUMENT = frozenset({"source", "url", "document", "doc", "document_id", "uri", "doc_id", "title"})
UNTIL = frozenset({"until", "before", "to_date", "created_before", "end"})
_DONE = "(?:failed|released|published|opened|closed|merged|committed|pushed|reported)"
_STATED = r"(?:(?:open|closed|merged|failed|failing|successful)\s+)?"
_LASTING = r"(?:has\s+(?:been|waited|stood)|is|was)"
_SPAN = r"\s+(?:\d|night|(?:\w+ )?(?:\w+day|hour|week|month|quarter|year)s?\b)"
_STATES = frozenset({"state", "status", "conclusion"})
ORDERS = frozenset({"sort", "order_by", "sort_by"})
LABELS = frozenset({"label", "labels"})


class Filled(NamedTuple):
    """Arguments that were found, the required ones that were not, and the part that stands for a text that was too long."""

    arguments: dict[str, Any]
    missing: tuple[str, ...]
    excerpt: str = ""


def fill(
    tool: ToolSpec,
    said: str,
    now: datetime,
    known: Mapping[str, Any] | None = None,
    repository: tuple[str, str] | None = None,
) -> Filled:
    """Arguments of `tool` for what the user said. Text in them stands as the user wrote it.

    Args:
        tool: The tool to call.
        said: The user's own words.
        now: The time that relative dates count from.
        known: Values from the conversation, for what the words do not say.
        repository: The one that is meant, where the words name several.
    """
    arguments: dict[str, Any] = {}
    reading, part = links_in_words(said), ""
    for parameter in tool.parameters:
        value = _value(parameter, tool, said if parameter.name in FREE_TEXT else reading, now)
        if parameter.name in DELEGATING:
            value = said
        if (
            isinstance(value, str)
            and parameter.name in FREE_TEXT
            and len(value) > (parameter.longest or len(value))
        ):
            part = value = excerpt(said, parameter.longest or len(value))
        if (
            known
            and parameter.name in known
            and (value is None or (repository and parameter.name in REPOSITORY | OWNER))
        ):
            value = known[parameter.name]
        if value is not None:
            arguments[parameter.name] = value
    for name in _asked_about(tool, reading) & arguments.keys():
        del arguments[name]
    arguments |= _of_the_one(tool, reading, arguments)
    missing = tuple(p.name for p in tool.parameters if p.required and p.name not in arguments)
    if len(missing) == 1 and missing[0] in _free(tool) and (word := free_word(reading, tool.examples)):
        arguments[missing[0]], missing = word, ()
    return Filled(arguments, missing, part)


def _free(tool: ToolSpec) -> set[str]:
    """Parameters that a free word can fill: no reader knows them, and any text is allowed."""
    read = frozenset[str]().union(*(names for names, _ in _READERS))
    return {p.name for p in tool.parameters if p.kind == "string" and not p.choices and not p.format} - read


def repository_of(arguments: Mapping[str, Any]) -> tuple[str, str] | None:
    """Owner and name of the repository that a call's arguments name, however they are written."""
    name = next((str(arguments[key]) for key in REPOSITORY if arguments.get(key)), None)
    owner = next((str(arguments[key]) for key in OWNER if arguments.get(key)), None)
    if name and "/" in name:
        owner, name = name.split("/", 1)
    return (owner, name) if owner and name else None


def repository_arguments(tool: ToolSpec, named: tuple[str, str] | None) -> dict[str, Any]:
    """A repository in the form that a tool takes it."""
    if not named:
        return {}
    separate = tool.accepts(*OWNER)
    given: dict[str, Any] = {}
    for parameter in tool.parameters:
        if parameter.name in REPOSITORY:
            given[parameter.name] = named[1] if separate else "/".join(named)
        elif parameter.name in OWNER:
            given[parameter.name] = named[0]
    return given


def _value(parameter: Parameter, tool: ToolSpec, text: str, now: datetime) -> Any:
    for names, reader in _READERS:
        if parameter.name in names:
            return reader(parameter, tool, text, now)
    if parameter.choices:
        return choice(
            FORMS["counted"].sub(" ", text) if parameter.name in ORDERS else text, parameter.choices
        )
    if parameter.kind == "boolean":
        return _flag(parameter, text)
    if parameter.name == "first_line":
        return lines[0] if (lines := entities.lines(text)) else None
    if parameter.kind == "integer":
        return _identifier(parameter, text)
    if parameter.format in {"date", "date-time"}:
        return _date(parameter, text, now)
    if parameter.kind == "string" and parameter.required:
        return entities.quoted(text)
    return None


def _repository(_: Parameter, tool: ToolSpec, text: str, __: datetime) -> str | None:
    found = entities.repository(text)
    if not found:
        return None
    return found[1] if tool.accepts(*OWNER) else "/".join(found)


def _branch(parameter: Parameter, _: ToolSpec, text: str, __: datetime) -> str | None:
    hashed = entities.commit(text) if parameter.name in {"sha", "ref", "revision"} else None
    if parameter.name == "head" and "from" not in text.lower():
        return None
    return hashed or entities.branch(text)


def _labels(parameter: Parameter, _: ToolSpec, text: str, __: datetime) -> str | list[str] | None:
    found = entities.labels(text)
    if not found:
        return None
    return found if parameter.kind == "array" else ",".join(found)


def _document(_: Parameter, __: ToolSpec, text: str, ___: datetime) -> str | None:
    return entities.address(text) or entities.path(text) or entities.quoted(text)


def _free_text(_: Parameter, tool: ToolSpec, text: str, __: datetime) -> str | None:
    whole = tool.is_library
    return search_terms(
        text, keep_question=whole, repository=tool.accepts(*REPOSITORY), anything=not tool.noun
    )


def _limit(tool: ToolSpec, text: str) -> int | None:
    if tool.accepts("first_line") and (lines := entities.lines(text)):
        return lines[1]
    return entities.limit(text) or (1 if _only_one(tool, text) else None)


def _of_the_one(tool: ToolSpec, text: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Where one thing is singled out: the state that is not said is any, and the first is the oldest."""
    found = None if entities.limit(text) else _only_one(tool, text)
    if not found or not LIMITS & arguments.keys():
        return {}
    first = found[0].lower().startswith("first ") or found[0].lower().endswith(" first")
    wanted = {"direction": "asc"} if first and tool.accepts("direction") else {}
    any_state = any(p.name == "state" and "all" in p.choices for p in tool.parameters)
    return wanted | ({"state": "all"} if any_state and "state" not in arguments else {})


def _asked_about(tool: ToolSpec, text: str) -> set[str]:
    """States that are asked about and say not which rows are wanted: "did the latest run go green?"."""
    plain = spelled_out(text)
    one = _only_one(tool, text)
    if not one or not FORMS["whether"].match(plain):
        return set()
    stated = (p for p in tool.parameters if p.choices and p.name in _STATES)
    return {p.name for p in stated if choice(plain[: one.end()], p.choices) is None}


def _only_one(tool: ToolSpec, text: str) -> re.Match[str] | None:
    """What says that one is wanted, "the latest release", where a list has no tool for one of its rows."""
    others = {"releases": "|tag|version", "workflow runs": "|run|workflow"}.get(tool.noun, "")
    one = re.escape(tool.noun.removesuffix("s")) + others
    if not tool.noun.endswith(("releases", "commits", "issues", "pull requests", "runs")):
        return None
    ordered = tool.accepts("direction")
    places = "latest|last|newest|most recent|current" + ("|oldest|earliest" if ordered else "")
    early = rf"|(?<!good )\bfirst\s+{_STATED}(?:{one})\b" if ordered else ""
    return re.search(
        rf"\bwhich\b.{{0,40}}\b(?:{one})s?\b.*\bhas the (?:most|fewest)\b|\bwhich\b.{{0,40}}\b(?:{one})s?\b.*\b{_LASTING}\b.*\b(?:longest|oldest|earliest)\b|\bthe\s+{_STATED}(?:{one})\s+with\s+(?:the\s+)?(?:most|fewest|highest|least)\b|\bthe\s+(?:most|least)\s+\w+\s+{_STATED}(?:{one})\b"
        rf"|\b(?:{places})\s+{_STATED}(?:{one}|person|push|change|thing|one)\b{early}|\bwho (?:was the )?last\b(?! \d)"
        rf"|\bwhich\s+(?:{_STATED}(?:{one}|one)\s+)?(?:of (?:them|these|those) )?{_LASTING}\b.*\b(?:longest|oldest|earliest|newest|latest|first|last)\b(?!{_SPAN})"
        rf"|^(?!.*\b(?:{one})s\b).*(?:\b{_DONE} (?:last|most recently)\b(?!{_SPAN})|\b(?:last|most recently) {_DONE}\b)",
        spelled_out(text),
        re.IGNORECASE,
    )


def flags(tool: ToolSpec, text: str) -> dict[str, bool]:
    """What a sentence switches on or off: `include_diff` in "the diff of the newest one"."""
    said = {p.name: _flag(p, text) for p in tool.parameters if p.kind == "boolean" and not p.required}
    return {name: value for name, value in said.items() if value is not None}


def _flag(parameter: Parameter, text: str) -> bool | None:
    telling = {"include", "with", "show", "is", "only", "get"}
    wanted = [word for word in parameter.name.split("_") if word not in telling]
    said = all(re.search(rf"\b{re.escape(word.rstrip('s'))}s?\b", text, re.IGNORECASE) for word in wanted)
    if not wanted or not said:
        return None
    return denied(re.escape(wanted[0].rstrip("s"))).search(text) is None


def _identifier(parameter: Parameter, text: str) -> int | None:
    found = entities.numbers(text)
    word = parameter.name.removesuffix("_id").removesuffix("_number").replace("_", " ")
    named = [number for number in found if number.noun and number.noun.rstrip("s").endswith(word)]
    if not parameter.names_its_subject:
        found = []
    elif word != "job":
        found = [number for number in found if not number.noun.startswith("job")]
    if parameter.name == "run_id":
        found, named = ([each for each in listed if not each.counted] for listed in (found, named))
    chosen = named or found
    return chosen[0].value if chosen else None


def _date(parameter: Parameter, text: str, now: datetime) -> str | None:
    span = period(text, now)
    moment = span.until if parameter.name in UNTIL else span.since
    if moment is None:
        return None
    return moment.date().isoformat() if parameter.format == "date" else moment.isoformat()


_Reader = Callable[[Parameter, ToolSpec, str, datetime], Any]
_READERS: tuple[tuple[frozenset[str], _Reader], ...] = (
    (REPOSITORY, _repository),
    (OWNER, lambda _, __, text, ___: entities.owner(text)),
    (LIMITS, lambda _, tool, text, __: _limit(tool, text)),
    (frozenset({"page"}), lambda _, __, text, ___: entities.page(text)),
    (LABELS, _labels),
    (PATH, lambda _, __, text, ___: entities.path(text) or entities.folder(text)),
    (DOCUMENT, _document),
    (SINCE_UNTIL, lambda parameter, _, text, now: _date(parameter, text, now)),
    (BRANCH, _branch),
    (frozenset({"assignee"}), lambda _, __, text, ___: entities.assignee(text)),
    (PERSON, lambda _, __, text, ___: entities.person(text)),
    (FREE_TEXT, _free_text),
)
