"""Conditions of a request that a call does not carry, so that the answer can name them.

Named are conditions (a time, an order, a subject, a person, a label, what a list is asked to be with or without) and every other word
that no argument and no name of what is shown accounts for. The answer takes those back that it shows.
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
_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*")
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
    found = [*own, *_unclaimed(text, step, tool)]
    return tuple(
        each for each in dict.fromkeys(found) if not any(each != other and each in other for other in found)
    )


def _unclaimed(text: str, step: Step, tool: ToolSpec) -> list[str]:
    """Words that no argument and no name of what is shown accounts for, from the first to the last of a group each.

    Groups stand between joints: "the releases and sponsors of a/b". What people tell of themselves asks for nothing.
    """
    subjects = [each.noun for each in (tool, step.then) if each]
    usual = ["default branch"] if tool.accepts(*NAMES["branch"]) else []
    named = " ".join([*subjects, *usual, *step.arguments, *(repository_of(step.arguments) or ())]).replace(
        "_", " "
    )
    own = (
        _values(step.arguments) | {stem(word) for word in words(named)} | set(content_stems(named))
    ) - _PLAIN
    quotes = [match[0] for match in entities.QUOTED.finditer(text)]
    beyond = _found("beyond", text) + [each for each in quotes if not set(content_stems(each)) & own]
    beyond += _found("inside", text) if tool.noun == "commits" and not step.then else []
    for form in ("time", "order", "topic", "with", "by", "denied_state", "denied"):
        text = FORMS[form].sub(lambda match: ";".ljust(len(match[0])), text)
    hidden = _NAMED.sub(lambda match: ";".ljust(len(match[0])), entities.quotes_hidden(text))
    for part in (hidden[slice(*span)] for span in cuts(hidden, FORMS["pause_of_speech"], 0, len(hidden))):
        if FORMS["told"].search(part) and not set(content_stems(part)) & own:
            continue
        for group in (part[slice(*span)].strip() for span in cuts(part, FORMS["group"], 0, len(part))):
            stems = [
                (each.span(), set(content_stems(entities.in_digits(each[0]))))
                for each in _WORD.finditer(group)
            ]
            left = [span for span, meant in stems if meant - own - _PLAIN - _COLUMNS]
            heard = any(meant & own for _, meant in stems)
            beyond += [group[left[0][0] : left[-1][1]] if heard else group] if left else []
    return beyond


def _of_a_list(
    text: str, tool: ToolSpec, arguments: Mapping[str, Any], known: Sequence[ToolSpec]
) -> list[str]:
    """Conditions on what is listed, files and commits that no argument has, and the word before what is listed."""
    text = without_opening(text)
    given = " ".join(str(value) for value in arguments.values())
    named = (entities.path(text), entities.commit(text))
    return _conditions(text, arguments, tool, known) + [each for each in named if each and each not in given]


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


def _known_words(tools: Sequence[ToolSpec]) -> set[str]:
    """Stems of what tools say of themselves."""
    return {s for each in tools for line in (each.description, *each.examples) for s in content_stems(line)}


def _values(arguments: Mapping[str, Any]) -> set[str]:
    """Stems of the words that a call's arguments stand for."""
    given = [name.replace("_", " ") if value is True else value for name, value in arguments.items()]
    each = [str(one) for value in given for one in (value if isinstance(value, list) else [value])]
    return {stem(word) for one in each for said in (one, *means(one)) for word in words(said)} | _PLAIN
