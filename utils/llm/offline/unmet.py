"""Conditions of a request that a call does not carry, so that the answer can name them.

Only what can be a condition is named: a time, an order, a subject, a person, a label, what a list is asked to be with or without,
and a word that is put before what is listed ("the frobnicated issues").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from utils.llm.offline import entities
from utils.llm.offline.arguments import denied, means, repository_of, topics
from utils.llm.offline.clauses import cuts, without_story
from utils.llm.offline.dates import moments
from utils.llm.offline.followup import without_opening
from utils.llm.offline.grammar import FORMS, WORDS
from utils.llm.offline.steps import Step
from utils.llm.offline.tools import NAMES, ToolSpec
from utils.llm.offline.words import content_stems, foreign_words, is_foreign, spelled_out, stem, words
from utils.messages.answer_form import without_form

_PLAIN, _COLUMNS = (frozenset(map(stem, WORDS[name])) for name in ("plain", "column"))
_LEADING_NAME = re.compile(r"^[\w.-]+/[\w./-]+\s+(?=\w)")
_NAMED = re.compile(r"[\w.-]+/[\w./-]+|(?<![\w.])v?\d[\w.-]*|\S+\.{3}\S+")
_PERSONS = frozenset({"author", "creator", "assignee", "committer", "actor", "user", "reviewer"})


def left_out(step: Step, known: Sequence[ToolSpec]) -> tuple[str, ...]:
    """What a step's words ask for that its call leaves out, in the user's words.

    `known` are all tools, whose descriptions and examples hold the words that are understood.
    """
    tool, arguments = step.tool, step.arguments
    if tool is None or step.missing or tool.text_parameter or tool.changes:
        return ()
    text = without_form(without_story(step.clause.reading, tool.noun))
    if is_foreign(text):
        understood = _known_words(known) | _values(arguments)
        read = {word: stem(entities.in_digits(spelled_out(word)).lower()) for word in foreign_words(text)}
        return tuple(word for word, usual in read.items() if usual not in understood)
    if arguments.get("assignee") == "none":
        text = FORMS["unassigned"].sub(" ", text)
    is_list = tool.accepts("page", "limit", "per_page") and not tool.shows_one
    own = _of_a_list(text, tool, arguments, known) if is_list else []
    found = [*own, *_unread(text, step, tool)]
    return tuple(
        each for each in dict.fromkeys(found) if not any(each != other and each in other for other in found)
    )


def _unread(text: str, step: Step, tool: ToolSpec) -> list[str]:
    """Groups of words, after a joint, of which a call, its tool and the tool for the row that it finds have not one:
    "the releases and sponsors of a/b".
    """
    values = _values(step.arguments)
    named = {stem(word) for each in repository_of(step.arguments) or () for word in words(each)}
    understood = _known_words([tool, step.then] if step.then else [tool]) | values | _COLUMNS
    quotes = [match[0] for match in entities.QUOTED.finditer(text)]
    beyond = _found("beyond", text) + [each for each in quotes if not set(content_stems(each)) & values]
    beyond += _found("inside", text) if tool.noun == "commits" and not step.then else []
    for condition in ("time", "order", "topic", "with", "by"):
        text = FORMS[condition].sub(lambda match: ";".ljust(len(match[0])), text)
    hidden = entities.quotes_hidden(text)
    groups = [text[start:end].strip() for start, end in cuts(hidden, FORMS["group"], 0, len(text))]
    stems = {group: set(content_stems(_NAMED.sub(" ", group))) for group in groups}
    heard = any(own & (understood - _PLAIN) for own in stems.values()) or values - _PLAIN - named
    return beyond + [
        _LEADING_NAME.sub("", group)
        for group in (groups if not heard or len(content_stems(groups[0])) > 1 else groups[1:])
        if not FORMS["said_of_somebody"].match(group)
        and stems[group] - _PLAIN
        and not stems[group] & (understood if heard else understood - _PLAIN)
        and not any(read(group) for read in (entities.numbers, entities.limit, entities.page))
    ]


def _of_a_list(
    text: str, tool: ToolSpec, arguments: Mapping[str, Any], known: Sequence[ToolSpec]
) -> list[str]:
    """Conditions on what is listed, files and commits that no argument has, and the word before what is listed."""
    text = without_opening(text)
    given = " ".join(str(value) for value in arguments.values())
    named = (entities.path(text), entities.commit(text))
    found = _conditions(text, arguments, tool, known) + [each for each in named if each and each not in given]
    for part in found:
        text = text.replace(part, " ")
    return [*found, *_before_the_noun(text, tool, arguments, known)]


def _found(form: str, text: str) -> list[str]:
    """What a form finds in a text, nothing of it inside of quotation marks."""
    return [text[slice(*match.span())] for match in FORMS[form].finditer(entities.quotes_hidden(text))]


def _conditions(
    text: str, arguments: Mapping[str, Any], tool: ToolSpec, known: Sequence[ToolSpec]
) -> list[str]:
    for name in (name for name, value in arguments.items() if isinstance(value, bool)):
        text = denied(re.escape(name)).sub(" ", text)
    given = arguments.keys()
    found = _times(text, given)
    found += [] if {"sort", "direction", "order"} & given else _found("order", text)
    found += [] if NAMES["titled"] & given else [whole for whole, _ in topics(text, tool)]
    persons = {str(value).lower() for name, value in arguments.items() if name in _PERSONS}
    others = persons | WORDS["no_person"]
    by = FORMS["by"].finditer(FORMS["order"].sub(" ", text))
    found += [match[0] for match in by if (match[1] or match[2]).lower() not in others]
    found += [part for part in _found("denied_state", text) if not _keeps_out(part, tool, arguments)]
    labels = [] if NAMES["label"] & given else entities.labels(text)
    found += [f"label {label}" if f"label {label}" in text else label for label in labels]
    own = tool.noun.removesuffix("s")
    nouns = {each.noun.removesuffix("s") for each in known} - {own, ""}
    answered = _values(arguments) | set(content_stems(tool.noun))
    found += [
        part
        for part in _found("with", text)
        if not (entities.limit(part) or moments(part))
        and not FORMS["denied_state"].search(part)
        and set(content_stems(part.removesuffix("only"))) - answered
        and not any(noun in spelled_out(part).lower() for noun in nouns)
    ]
    return [part.strip() for part in dict.fromkeys(found)]


def _times(text: str, given: Collection[str]) -> list[str]:
    """Times that the call has not, or of which it has one end alone; of two that begin it has the first."""
    said = moments(text)
    first, last = (next((each for each in said if getattr(each, end)), None) for end in ("begins", "ends"))
    met = [
        each
        for each in said
        if (not each.begins or (each is first and NAMES["since"] & set(given)))
        and (not each.ends or (each is last and NAMES["until"] & set(given)))
    ]
    read = [(each, each.match[0].strip().lower()) for each in said]
    return [
        part
        for part in _found("time", text)
        for own in [[each for each, words in read if words in part.lower() or part.lower() in words]]
        if not own or any(each not in met for each in own)
    ]


def _keeps_out(part: str, tool: ToolSpec, arguments: Mapping[str, Any]) -> bool:
    """Whether the chosen state keeps out what is denied: "not the closed ones" of those that are merged."""
    stated = [p for p in tool.parameters if p.name in ("state", "status")]
    chosen = {str(arguments.get(p.name, p.default)) for p in stated} - {"None"}
    kept = {word for value in chosen for word in means(value)}
    return bool(chosen - {"all"}) and not kept & {word.lower() for word in _found("state_words", part)}


def _before_the_noun(
    text: str, tool: ToolSpec, arguments: Mapping[str, Any], known: Sequence[ToolSpec]
) -> list[str]:
    """The word before what is listed, where it stands in no argument, in no tool's description and in none of its examples."""
    understood = _values(arguments) | _known_words(known)
    noun = re.escape(tool.noun.rstrip("s"))
    before = rf"(?<!\bwho )(?<!\bto )(?<!\byou )(?<!\bthey )\b([A-Za-z-]{{3,}})\s+{noun}s?\b"
    return [
        word
        for word in re.findall(before, spelled_out(text), re.IGNORECASE)
        if word.lower() not in WORDS["stop"]
        and not FORMS["state_words"].fullmatch(word)
        and stem(word.lower()) not in understood
        and not entities.limit(f"only {word}")
    ]


def _known_words(tools: Sequence[ToolSpec]) -> set[str]:
    """Stems of what tools say of themselves."""
    return {s for each in tools for line in (each.description, *each.examples) for s in content_stems(line)}


def _values(arguments: Mapping[str, Any]) -> set[str]:
    """Stems of the words that a call's arguments stand for."""
    given = [name.replace("_", " ") if value is True else value for name, value in arguments.items()]
    each = [str(one) for value in given for one in (value if isinstance(value, list) else [value])]
    return {stem(word) for one in each for said in (one, *means(one)) for word in words(said)} | _PLAIN
