"""A tool's arguments, filled from a sentence. What is not said is left to the tool's default."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, NamedTuple

from utils.llm.offline import entities
from utils.llm.offline.clauses import without_story
from utils.llm.offline.dates import period
from utils.llm.offline.grammar import FORMS, LEXICON, READERS, part, pattern
from utils.llm.offline.particulars import links_in_words
from utils.llm.offline.search_terms import excerpt, search_terms
from utils.llm.offline.slots import free_word, written_text
from utils.llm.offline.tools import NAMES, Parameter, ToolSpec
from utils.llm.offline.words import content_stems, spelled_out

_MEANS: dict[str, list[str]] = LEXICON["values"]
_TIMES = NAMES["since"] | NAMES["until"] | NAMES["dated"]
_WEAK = frozenset({"all", "any", "none"})
"""Values whose words say other things as well; they count only when no other value does."""


def choice(text: str, allowed: Sequence[str]) -> str | None:
    """The allowed value that the sentence names and does not deny, the most telling first; `None` when it names none."""
    lower = FORMS["asked_of_it"].sub(" ", FORMS["did"].sub(r" \2d ", text.lower()))
    lower = FORMS["still_to_come"].sub(" pending ", lower)
    if "all" in allowed and (FORMS["whatever"].search(text) or FORMS["both_states"].search(lower)):
        return "all"
    words = {
        value: [word for word in means(value) if word == value or word not in allowed] for value in allowed
    }
    lower = denied("|".join(re.escape(word) for own in words.values() for word in own)).sub(" ", lower)
    said = {value: place for value, own in words.items() if (place := _place(lower, own)) is not None}
    order = sorted(said, key=lambda value: (value in _WEAK, value not in lower, said[value]))
    return next(iter(order), None)


@lru_cache(maxsize=256)
def denied(words: str) -> re.Pattern[str]:
    """How a sentence says that it does not want what words stand for: "no drafts", "drafts excluded"."""
    return pattern(
        rf"{part('denies')}(?:{words})s?(?![\w/-])|\b(?:{words})s?\W+(?:(?:ones?|are)\W+)*(?:excluded|left out)\b"
    )


def means(value: str) -> list[str]:
    """Words that say a value."""
    return _MEANS.get(value.lower(), [value.lower().replace("_", " ")])


def _place(text: str, words: Sequence[str]) -> int | None:
    match = re.search(rf"(?<![\w/-])(?:{'|'.join(map(re.escape, words))})(?![\w/-])", text)
    return match.start() if match else None


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
    known, part = known or {}, ""
    text = written_text(said, tool) if tool.written else None
    written = said[slice(*text)] if text else None
    reading = links_in_words(f"{said[: text[0]]} {said[text[1] :]}" if text else said)
    if any(period(reading, now)):  # "and in May?" takes the place of the time before
        known = {name: value for name, value in known.items() if name not in _TIMES}
    for parameter in tool.parameters:
        name, free = parameter.name, parameter.name in NAMES["free_text"]
        own = said if free or name in NAMES["delegating"] else reading
        value = written if name == tool.written else _value(Slot(parameter, tool, own, now))
        if free and isinstance(value, str) and len(value) > (longest := parameter.longest or len(value)):
            part = value = excerpt(said, longest)
        one_of_several = repository and name in NAMES["repository"] | NAMES["owner"]
        if name in known and (value is None or one_of_several):
            value = known[name]
        if value is not None:
            arguments[name] = value
    for name in _asked_about(tool, reading) & arguments.keys():
        del arguments[name]
    arguments |= _of_the_one(tool, reading, arguments)
    missing = tuple(p.name for p in tool.parameters if p.required and p.name not in arguments)
    if (
        len(missing) == 1
        and missing[0] in _free(tool) - {tool.written}
        and (word := free_word(said, tool, missing[0]))
    ):
        arguments[missing[0]], missing = word, ()
    return Filled(arguments, missing, part)


def _free(tool: ToolSpec) -> set[str]:
    """Parameters that a free word can fill: no reader knows them, and any text is allowed."""
    read = frozenset[str]().union(*(NAMES[taken] for taken in _READERS))
    return {p.name for p in tool.parameters if p.kind == "string" and not p.choices and not p.format} - read


def repository_of(arguments: Mapping[str, Any]) -> tuple[str, str] | None:
    """Owner and name of the repository that a call's arguments name, however they are written."""
    names = NAMES["repository"], NAMES["owner"]
    name, owner = (next((str(arguments[k]) for k in keys if arguments.get(k)), None) for keys in names)
    if name and "/" in name:
        owner, name = name.split("/", 1)
    return (owner, name) if owner and name else None


def repository_arguments(tool: ToolSpec, named: tuple[str, str] | None) -> dict[str, Any]:
    """A repository in the form that a tool takes it."""
    if not named:
        return {}
    taken = [p.name for p in tool.parameters]
    given = {name: named[0] for name in taken if name in NAMES["owner"]}
    whole = named[1] if given else "/".join(named)
    return given | {name: whole for name in taken if name in NAMES["repository"]}


class Slot(NamedTuple):
    """A parameter that is filled: of which tool, from which words, at which time."""

    parameter: Parameter
    tool: ToolSpec
    text: str
    now: datetime


def _value(slot: Slot) -> Any:
    """What the words say for a parameter: by its name, else by what its schema allows."""
    parameter, text = slot.parameter, slot.text
    for taken, read in _READERS.items():
        if parameter.name in NAMES[taken]:
            return read(slot)
    if parameter.choices:
        if parameter.name in NAMES["state"]:
            text = FORMS["placed_state"].sub(" ", text)  # "the most recently opened issue" may be closed
            text = FORMS["made"].sub(" ", text) if any(period(text, slot.now)) else text
        ordered = parameter.name in NAMES["order"]
        text = spelled_out(text)
        return choice(FORMS["counted"].sub(" ", text) if ordered else text, parameter.choices)
    if parameter.kind == "boolean":
        return _flag(parameter, text)
    if parameter.kind == "integer":
        return _identifier(parameter, text)
    if parameter.format in {"date", "date-time"}:
        return _date(slot)
    return entities.quoted(text) if parameter.kind == "string" and parameter.required else None


def _repository(slot: Slot) -> str | None:
    found = entities.repository(slot.text)
    return found and (found[1] if slot.tool.accepts(*NAMES["owner"]) else "/".join(found))


def _branch(slot: Slot) -> str | None:
    name, text = slot.parameter.name, slot.text
    if slot.tool.compares:
        pair = entities.comparison(text)
        return pair[name == "head"] if pair else None
    hashed = entities.commit(text) if name in {"sha", "ref", "revision"} else None
    return hashed or READERS["branch"].read(text)


def _labels(slot: Slot) -> str | list[str] | None:
    found = entities.labels(slot.text)
    return (found if slot.parameter.kind == "array" else ",".join(found)) or None


def _title(slot: Slot) -> str | None:
    return next((topic for _, topic in topics(slot.text, slot.tool)), None)


def topics(text: str, tool: ToolSpec) -> Iterator[tuple[str, str]]:
    """What the things that a tool lists are asked to be about; not they themselves, "tell me about the open issues", and no repository.

    Each with the words that say so, "about retries".
    """
    for match in FORMS["topic"].finditer(entities.quotes_hidden(text)):
        whole, topic = text[slice(*match.span())], text[slice(*match.span(1))].strip()
        stems = set(content_stems(topic))
        if stems and not stems & set(content_stems(tool.noun)) and entities.repository(topic) is None:
            yield whole, topic


def _free_text(slot: Slot) -> str | None:
    return search_terms(slot.text, keep_question=slot.tool.is_library, anything=not slot.tool.noun)


def _limit(slot: Slot) -> int | None:
    tool, text = slot.tool, slot.text
    if tool.is_library and not FORMS["passages"].search(text):
        return None  # a number is a part of the question: "what do I do when clients get 503?"
    return entities.limit(text) or (1 if _only_one(tool, text) else None)


def _of_the_one(tool: ToolSpec, text: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Where one thing is singled out, or what was made at a time: the state that is not said is any."""
    one = NAMES["limit"] & arguments.keys() and not entities.limit(text) and _only_one(tool, text)
    made = arguments.get("dated") == "opened" and FORMS["made"].search(text)
    any_state = any(p.name == "state" and "all" in p.choices for p in tool.parameters)
    return {"state": "all"} if (one or made) and any_state and "state" not in arguments else {}


def _asked_about(tool: ToolSpec, text: str) -> set[str]:
    """States that are asked about and say not which rows are wanted: "did the latest run go green?"."""
    plain = spelled_out(text)
    asked = plain.replace(entities.repository_text(plain) or "\0", "")
    stated = [p for p in tool.parameters if p.choices and p.name in NAMES["state"]]
    if FORMS["state_of_runs"].match(asked):
        return {p.name for p in stated}
    one = _only_one(tool, text)
    if not one or not (FORMS["whether"].match(asked) or FORMS["asked_state"].search(plain[one.end() :])):
        return set()
    named = FORMS["went"].sub(" ", plain[: one.end()])  # "did it go green on the latest run?"
    return {p.name for p in stated if choice(named, p.choices) is None}


def _only_one(tool: ToolSpec, text: str) -> re.Match[str] | None:
    """What says that one is wanted, "the latest release", where a list has no tool for one of its rows."""
    if not tool.noun.endswith(("releases", "commits", "issues", "pull requests", "runs")):
        return None
    others = {"releases": "|tag|version", "workflow runs": "|run|workflow|build"}.get(tool.noun, "")
    kind = "single_ordered" if tool.accepts("direction") else "single"
    row, plain = re.escape(tool.noun.removesuffix("s")) + others, spelled_out(text)
    return None if _single("rows_counted", row).search(plain) else _single(kind, row).search(plain)


@cache
def _single(kind: str, row: str) -> re.Pattern[str]:
    """How a sentence singles out one row of a list, or counts them; `ROW` stands in the lexicon for what the rows are called."""
    return pattern(part(kind).replace("ROW", f"(?:{row})"))


def flags(tool: ToolSpec, text: str) -> dict[str, bool]:
    """What a sentence switches on or off: `include_diff` in "the diff of the newest one"."""
    switches = [p for p in tool.parameters if p.kind == "boolean" and not p.required]
    return {p.name: value for p in switches if (value := _flag(p, text)) is not None}


def _flag(parameter: Parameter, text: str) -> bool | None:
    telling = {"include", "with", "show", "is", "only", "get"}
    wanted = [word for word in parameter.name.split("_") if word not in telling]
    said = all(
        re.search(rf"\b{re.escape(word.rstrip('s'))}s?\b(?!\s+(?:an?|the|me)\b)", text, re.IGNORECASE)
        for word in wanted  # no verb: "draft a report"
    )
    if not wanted or not said:
        return None
    return denied(re.escape(wanted[0].rstrip("s"))).search(text) is None


def _identifier(parameter: Parameter, text: str) -> int | None:
    found = list(entities.numbers(text))
    word = parameter.name.removesuffix("_id").removesuffix("_number").replace("_", " ")
    named = [number for number in found if number.noun and number.noun.rstrip("s").endswith(word)]
    if not parameter.names_its_subject:
        found = []
    else:
        found = [number for number in found if not number.noun.startswith("job")]
    chosen = named or found
    return chosen[0].value if chosen else None


def _date(slot: Slot) -> str | None:
    span = period(without_story(slot.text, slot.tool.noun), slot.now)
    moment = span.until if slot.parameter.name in NAMES["until"] else span.since
    if moment is None:
        return None
    return moment.date().isoformat() if slot.parameter.format == "date" else moment.isoformat()


_READERS: Mapping[str, Callable[[Slot], Any]] = {
    "delegating": lambda slot: slot.text,
    "repository": _repository,
    "owner": lambda slot: entities.owner(slot.text),
    "limit": _limit,
    "page": lambda slot: entities.page(slot.text),
    "label": _labels,
    "path": lambda slot: entities.path(slot.text) or READERS["folder"].read(slot.text),
    "document": lambda slot: (
        entities.address(slot.text) or entities.path(slot.text) or entities.quoted(slot.text)
    ),
    "since": _date,
    "until": _date,
    "branch": _branch,
    "dated": lambda slot: (
        choice(slot.text, slot.parameter.choices) if any(period(slot.text, slot.now)) else None
    ),
    "titled": _title,
    "assignee": lambda slot: entities.assignee(slot.text),
    "person": lambda slot: entities.person(slot.text),
    "free_text": _free_text,
}
"""The readers of parameters by what those take, in the order in which a name is looked for."""
