"""Conditions of a request that a call does not carry, so that the answer can name them.

Named are conditions (a time, an order, a subject, what a list is asked to be with or without) and every other word
that no argument and no name of what is shown accounts for. The answer takes those back that it shows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from utils.llm.offline import entities
from utils.llm.offline.arguments import denied, means, repository_of, topics
from utils.llm.offline.clauses import cuts, without_story
from utils.llm.offline.dates import moments, times
from utils.llm.offline.followup import without_opening
from utils.llm.offline.grammar import FORMS, WORDS
from utils.llm.offline.particulars import masked
from utils.llm.offline.steps import Step
from utils.llm.offline.tools import NAMES, ToolSpec
from utils.llm.offline.words import content_stems, foreign_words, is_foreign, spelled_out, stem, words
from utils.messages.answer_form import without_form

_PLAIN = frozenset(map(stem, WORDS["plain"]))
OF_ANY_ROWS = _PLAIN | set(content_stems(" ".join(WORDS["column"])))
"""Stems of words that leave nothing out beside others that are accounted for."""
_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*")
_NAMED = re.compile(r"[\w.-]+/[\w./-]+|(?<![\w.])v?\d[\w.-]*|\S+\.{3}\S+")


def left_out(step: Step, known: Sequence[ToolSpec]) -> tuple[str, ...]:
    """What a step's words ask for that its call leaves out, in the user's words.

    `known` are all tools; what another one lists is no condition.
    """
    tool, arguments = step.tool, step.arguments
    if tool is None or step.missing or tool.text_parameter or tool.changes:
        return ()
    text = without_form(without_story(step.clause.reading, tool.noun))
    if is_foreign(text):
        understood = _values(arguments)
        read = {word: stem(entities.in_digits(spelled_out(word)).lower()) for word in foreign_words(text)}
        return tuple(word for word, usual in read.items() if usual not in understood)
    if arguments.get("assignee") == "none":
        text = FORMS["unassigned"].sub(" ", text)
    own = _own_words(step, tool)
    text = _without_told(text, own)
    found = _unclaimed(text, tool, own)
    if tool.accepts("page", "limit", "per_page") and not tool.shows_one:
        found = [*_conditions(without_opening(text), arguments, tool, known), *found]
    return tuple(
        each for each in dict.fromkeys(found) if not any(each != other and each in other for other in found)
    )


def _own_words(step: Step, tool: ToolSpec) -> set[str]:
    """Stems of what a call's arguments say and of what it shows: whatever its own texts say where nothing can be left out."""
    subjects = [each.noun for each in (tool, step.then) if each]
    usual = ["default branch"] if tool.accepts(*NAMES["branch"]) else []
    if all(each.required for each in tool.parameters):
        usual += [tool.description, *map(masked, tool.examples)]
    said = " ".join([*subjects, *usual, *step.arguments, *(repository_of(step.arguments) or ())])
    named = said.replace("_", " ")
    given = _WORD.findall(" ".join(map(str, step.arguments.values())))
    return {
        *_values(step.arguments),
        *map(stem, words(named)),
        *content_stems(" ".join([named, *given])),
    } - _PLAIN


def _without_told(text: str, own: Collection[str]) -> str:
    """A text without what people tell of themselves in it, which asks for nothing: "I want to hand them out on Monday"."""
    hidden = entities.quotes_hidden(text)
    for start, end in cuts(hidden, FORMS["pause_of_speech"], 0, len(hidden)):
        part = hidden[start:end]
        if FORMS["told"].search(part) and not set(content_stems(part)) & set(own):
            text = text[:start] + " " * (end - start) + text[end:]
    return text


def _unclaimed(text: str, tool: ToolSpec, own: set[str]) -> list[str]:
    """Words that nothing accounts for, from the first to the last of a group between joints: "the releases and sponsors of a/b"."""
    quotes = [match[0] for match in entities.QUOTED.finditer(text)]
    beyond = _found("beyond", text) + [each for each in quotes if not set(content_stems(each)) & own]
    beyond += _found("inside", text) if tool.noun == "commits" else []
    for each in times(text):
        start, end = each.match.span()
        text = f"{text[:start]}{';'.ljust(end - start)}{text[end:]}"
    for form in ("order", "topic", "with", "denied_state", "denied"):
        text = FORMS[form].sub(lambda match: ";".ljust(len(match[0])), text)
    hidden = _NAMED.sub(lambda match: ";".ljust(len(match[0])), entities.quotes_hidden(text))
    for group in (hidden[slice(*span)].strip() for span in cuts(hidden, FORMS["group"], 0, len(hidden))):
        stems = {
            each.span(): set(content_stems(entities.in_digits(each[0]))) for each in _WORD.finditer(group)
        }
        left = [at for at in stems if stems[at] - own - _PLAIN]
        every = set().union(*stems.values())
        if every - own - OF_ANY_ROWS:
            beyond.append(group[left[0][0] : left[-1][1]] if every & own else group)
    return beyond


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
    found += [part for part in _found("denied_state", text) if not _keeps_out(part, tool, arguments)]
    values = " ".join(str(value) for value in arguments.values())
    named = (entities.path(text), entities.commit(text))
    found += [each for each in named if each and each not in values]
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
    said = times(entities.quotes_hidden(text))
    first, last = (next((each for each in said if getattr(each, end)), None) for end in ("begins", "ends"))
    met = [
        each
        for each in said
        if (each.begins or each.ends)
        and (not each.begins or (each is first and NAMES["since"] & set(given)))
        and (not each.ends or (each is last and NAMES["until"] & set(given)))
    ]
    return [each.match[0] for each in said if each not in met]


def _keeps_out(part: str, tool: ToolSpec, arguments: Mapping[str, Any]) -> bool:
    """Whether the chosen state keeps out what is denied: "not the closed ones" of those that are merged."""
    stated = [p for p in tool.parameters if p.name in ("state", "status")]
    chosen = {str(arguments.get(p.name, p.default)) for p in stated} - {"None"}
    kept = {word for value in chosen for word in means(value)}
    return bool(chosen - {"all"}) and not kept & {word.lower() for word in _found("state_words", part)}


def _values(arguments: Mapping[str, Any]) -> set[str]:
    """Stems of the words that a call's arguments stand for."""
    given = arguments.values()
    each = [str(one) for value in given for one in (value if isinstance(value, list) else [value])]
    return {stem(word) for one in each for said in (one, *means(one)) for word in words(said)} | _PLAIN
