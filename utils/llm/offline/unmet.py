"""Conditions of a request that a call does not carry, so that the answer can name them.

Only what can be a condition is named: a time, an order, a subject, a person, a label, what a list is asked to be with or without,
and a word that is put before what is listed ("the frobnicated issues").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from utils.llm.offline import entities
from utils.llm.offline.arguments import UNTIL
from utils.llm.offline.choices import denied, means
from utils.llm.offline.clauses import cuts
from utils.llm.offline.followup import without_opening
from utils.llm.offline.grammar import FORMS, WORDS
from utils.llm.offline.language import foreign_words, is_foreign
from utils.llm.offline.route import asks_of_a_repository
from utils.llm.offline.tools import SINCE_UNTIL, ToolSpec
from utils.llm.offline.words import content_stems, spelled_out, stem, words
from utils.messages.answer_form import without_form

_PLAIN, _COLUMNS = (frozenset(map(stem, WORDS[name])) for name in ("plain", "column"))
_LEADING_NAME = re.compile(r"^[\w.-]+/[\w./-]+\s+(?=\w)")
_NAMED = re.compile(r"[\w.-]+/[\w./-]+|\b\d[\w-]*")
_PERSONS = frozenset({"author", "creator", "assignee", "committer", "actor", "user", "reviewer"})


def without_story(text: str, tool: ToolSpec) -> str:
    """A request without what people tell before it, where the rest says what of a repository it asks for."""
    rest = FORMS["preamble"].sub("", text)
    asks = asks_of_a_repository(rest) or bool(set(words(tool.noun)) & set(words(rest)))
    return rest if asks and not entities.numbers(text[: len(text) - len(rest)]) else text


def unread(
    tool: ToolSpec, clause: str, arguments: Mapping[str, Any], then: ToolSpec | None = None
) -> list[str]:
    """Groups of words, after a joint, of which a call, its tool and the tool for the row that it finds (`then`) have not one:
    "the releases and sponsors of a/b".
    """
    if tool.text_parameter or tool.changes or is_foreign(clause):
        return []
    clause = _without_unassigned(without_form(clause), arguments)
    understood = _known_words([tool, then] if then else [tool]) | _values(arguments) | _COLUMNS
    understood |= {stem("approval")} if stem("approved") in understood else set()
    beyond = [match[0] for match in FORMS["beyond"].finditer(clause)]
    beyond += [
        match[0]
        for match in entities.QUOTED.finditer(clause)
        if not set(content_stems(match[0])) & _values(arguments)
    ]
    if tool.noun == "commits":
        beyond += [match[0] for match in FORMS["inside"].finditer(clause)]
    for condition in (FORMS["time"], FORMS["order"], FORMS["topic"], FORMS["with"], FORMS["by"]):
        clause = condition.sub(" ", clause)
    hidden = entities.quotes_hidden(clause)
    groups = [clause[start:end].strip() for start, end in cuts(hidden, FORMS["group"], 0, len(clause))]
    heard = [group for group in groups if set(content_stems(group)) & understood]
    return beyond + [
        _LEADING_NAME.sub("", group)
        for group in (groups if heard and len(content_stems(groups[0])) > 1 else groups[1:])
        if not FORMS["said_of_somebody"].match(group)
        and not (FORMS["what_changed"].fullmatch(group) and set(words(tool.noun)) <= WORDS["changed_by"])
        and (stems := set(content_stems(_NAMED.sub(" ", group)))) - _PLAIN
        and not stems & understood
        and not entities.numbers(group)
        and not entities.limit(group)
        and not entities.page(group)
    ]


def unmet(tool: ToolSpec, clause: str, arguments: Mapping[str, Any], known: Sequence[ToolSpec]) -> list[str]:
    """What a clause asks for that its call leaves out, in the user's words.

    Args:
        tool: The tool that is called.
        clause: The user's words.
        arguments: What it is called with.
        known: All tools, whose descriptions and examples hold the words that are understood.
    """
    if tool.text_parameter or tool.changes or not tool.parameters:
        return []
    if is_foreign(clause):
        return [word for word in foreign_words(clause) if stem(word.lower()) not in _known_words(known)]
    if tool.shows_one or not tool.accepts(
        "page", "limit", "per_page"
    ):  # one thing, not a list: nothing to leave out
        return []
    text = without_opening(_without_unassigned(without_form(clause), arguments))
    found = [*_conditions(text, arguments, tool, known), *_particulars(text, arguments)]
    for part in found:
        text = text.replace(part, " ")
    return [*found, *_before_the_noun(text, tool, arguments, known)]


def _particulars(text: str, arguments: Mapping[str, Any]) -> list[str]:
    """A file or a commit that is named and that no argument has."""
    given = " ".join(str(value) for value in arguments.values())
    named = (entities.path(text), entities.commit(text))
    return [each for each in named if each is not None and each not in given]


def _slices(condition: re.Pattern[str], text: str) -> list[str]:
    """What a form finds in a text, nothing of it inside of quotation marks."""
    return [text[slice(*match.span())] for match in condition.finditer(entities.quotes_hidden(text))]


def _without_unassigned(text: str, arguments: Mapping[str, Any]) -> str:
    return FORMS["unassigned"].sub(" ", text) if arguments.get("assignee") == "none" else text


def _conditions(
    clause: str, arguments: Mapping[str, Any], tool: ToolSpec, known: Sequence[ToolSpec]
) -> list[str]:
    for name in (name for name, value in arguments.items() if isinstance(value, bool)):
        clause = denied(re.escape(name)).sub(" ", clause)
    persons = {str(value).lower() for name, value in arguments.items() if name in _PERSONS}
    found = []
    dated = SINCE_UNTIL & arguments.keys()
    ended = dated & UNTIL
    found += [
        part
        for part in _slices(FORMS["time"], clause)
        if not dated or (FORMS["ends"].match(part) and not ended)
    ]
    if not {"sort", "direction", "order"} & arguments.keys():
        found += [
            match[0]
            for match in FORMS["order"].finditer(clause)
            if not re.search(r"most recent(?:ly)?$", match[0], re.IGNORECASE)
        ]
    found += [match[0] for match in FORMS["topic"].finditer(clause) if match[1].strip() not in tool.noun]
    for match in FORMS["by"].finditer(FORMS["order"].sub(" ", clause)):
        name = (match[1] or match[2]).lower()
        if name not in persons and name not in WORDS["no_person"]:
            found.append(match[0])
    found += [
        part for part in _slices(FORMS["denied_state"], clause) if not _keeps_out(part, tool, arguments)
    ]
    labels = entities.labels(clause)
    if not {"label", "labels"} & arguments.keys():
        found += [f"label {label}" if f"label {label}" in clause else label for label in labels]
    own = tool.noun.removesuffix("s")
    others = [noun for each in known if (noun := each.noun.removesuffix("s")) not in (own, "")]
    found += [
        match[0]
        for match in FORMS["with"].finditer(clause)
        if not entities.limit(match[0])
        and not (FORMS["state_words"].search(match[0]) and FORMS["denied_state"].search(match[0]))
        and set(content_stems(match[0].removesuffix("only")))
        - _values(arguments)
        - set(content_stems(tool.noun))
        and not any(noun in spelled_out(match[0]).lower() for noun in others)
    ]
    return [part.strip() for part in dict.fromkeys(found)]


def _keeps_out(part: str, tool: ToolSpec, arguments: Mapping[str, Any]) -> bool:
    """Whether the chosen state keeps out what is denied: "not the closed ones" of those that are merged."""
    chosen = {
        str(arguments.get(p.name, p.default)) for p in tool.parameters if p.name in ("state", "status")
    } - {"None"}
    states = {match[0].lower() for match in FORMS["state_words"].finditer(part)}
    kept = {word for value in chosen for word in means(value)} | ({*states} if "all" in chosen else set())
    return bool(chosen) and not states & kept


def _before_the_noun(
    text: str, tool: ToolSpec, arguments: Mapping[str, Any], known: Sequence[ToolSpec]
) -> list[str]:
    """The word before what is listed, where it stands in no argument, in no tool's description and in none of its examples."""
    understood = _values(arguments) | _known_words(known)
    plain = spelled_out(text)
    noun = re.escape(tool.noun.rstrip("s"))
    found = [
        match[1]
        for match in re.finditer(
            rf"(?<!\bwho )(?<!\bto )(?<!\byou )(?<!\bthey )\b([A-Za-z-]{{3,}})\s+{noun}s?\b",
            plain,
            re.IGNORECASE,
        )
    ]
    return [
        word
        for word in found
        if word.lower() not in WORDS["stop"]
        and not FORMS["state_words"].fullmatch(word)
        and not {stem(word.lower())} & understood
        and not entities.limit(f"only {word}")
    ]


def _known_words(tools: Sequence[ToolSpec]) -> set[str]:
    """Stems of what tools say of themselves."""
    return {s for each in tools for line in (each.description, *each.examples) for s in content_stems(line)}


def _values(arguments: Mapping[str, Any]) -> set[str]:
    """Stems of the words that a call's arguments stand for."""
    said = (word for name, value in arguments.items() for word in _said_by(name if value is True else value))
    return {stem(word) for word in said} | _PLAIN


def _said_by(value: object) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [word for each in listed for said in (str(each), *means(str(each))) for word in words(said)]
