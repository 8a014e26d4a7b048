"""From a conversation to the steps of its last request: which tool for which clause, with which arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from utils.llm.offline import entities, followup
from utils.llm.offline.arguments import fill, flags, repository_arguments, repository_of
from utils.llm.offline.changes import asked_change
from utils.llm.offline.clauses import Clause, cuts, opens_a_request, split
from utils.llm.offline.conversation import Call, Turn, legible
from utils.llm.offline.grammar import FORMS, WORDS
from utils.llm.offline.particulars import links_in_words
from utils.llm.offline.parts import parts
from utils.llm.offline.route import (
    ASKS_BESIDE,
    ASKS_KNOWN,
    ASKS_WHICH,
    about_the_product,
    one_by_place,
    route,
)
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.smalltalk import Talk, small_talk, talk_of, without_prelude
from utils.llm.offline.steps import Step, merged, sent
from utils.llm.offline.tools import NAMES, ToolSpec
from utils.llm.offline.unmet import left_out
from utils.llm.offline.words import content_stems, words

SWITCH = 0.5
"""Score from which a follow-up may go to another tool than the call before. Chosen on the `tune` split of tests/eval."""
QUESTION_TAIL = 200
"""Characters at the end of an answer in which a question of ours stands."""
NOT_ALL_READ = "Nothing was changed, since I did not read all of the message."
"""Why a change is not made: what was left out may say more of it, or be the text that it takes."""
ANSWER_WORDS = 8
"""Words of an answer to a question of ours at most; more is a new request."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a clause may lean on.

    Attributes:
        previous: The call before it.
        repository: The one that the message or the conversation names.
        asks_from: The score from which an agent for repositories is asked although the clause names none.
    """

    previous: Call | None
    repository: tuple[str, str] | None
    asks_from: float


@dataclass(frozen=True, slots=True)
class Planner:
    """What planning needs to know: the tools, how to compare texts, and the time."""

    tools: Sequence[ToolSpec]
    similarity: Similarity
    now: datetime

    def plan(self, turns: Sequence[Turn]) -> list[Step]:
        """The steps of the last turn's request, in the order of its clauses; empty for small talk."""
        steps = self._planned(turns)
        if not turns[-1].cut:
            return steps
        return [
            replace(step, tool=None, why=NOT_ALL_READ) if step.tool and step.tool.changes else step
            for step in steps
        ]

    def _planned(self, turns: Sequence[Turn]) -> list[Step]:
        request = without_prelude(turns[-1].request)
        if talk_of(turns[-1].request, self.similarity):
            return []
        if waiting := self._waiting(turns):
            return [self._completed(step, request) for step in waiting]
        nouns = [tool.noun for tool in self.tools if tool.noun]
        clauses = split(request, [*nouns, *WORDS["lacked"], *WORDS["beside_lists"]] if nouns else [])
        talk = [small_talk(clause.text) for clause in clauses]
        told = (None, Talk.HELP)
        clauses = [clause for clause, kind in zip(clauses, talk, strict=True) if kind in told]
        clauses = parts(clauses, request)
        calls = [call for turn in reversed(turns[:-1]) for call in reversed(turn.calls)]
        spans = [links_in_words(request[clause.start : clause.end]) for clause in clauses]
        steps: list[Step] = []
        for index, clause in enumerate(clauses):
            beside = entities.repository(spans[index]) or _shared(spans, index)
            before = _repository_before(calls)
            context = Context(
                _previous(calls, steps),
                beside or before,
                ASKS_BESIDE if beside else ASKS_KNOWN if before else ASKS_WHICH,
            )
            steps += self._steps(clause, context)
        steps = merged(steps, request)
        whole = len(steps) == 1 and not steps[0].excerpt
        libraries = {tool.name for tool in self.tools if tool.is_library and not tool.delegates}
        searched = next((call for call in calls if call.tool in libraries), None)
        if whole and steps[0].tool and steps[0].tool.delegates and turns[-1].request != turns[-1].words:
            request = turns[-1].words
        steps = [sent(step, request, whole=whole, before=searched) for step in steps]
        return [replace(step, unmet=left_out(step, self.tools)) for step in steps]

    def _waiting(self, turns: Sequence[Turn]) -> list[Step]:
        """Steps of the turn before that still need what this message may be the answer to."""
        text = turns[-1].request
        if not turns[1:] or "?" not in turns[-2].answer[-QUESTION_TAIL:]:
            return []
        if opens_a_request(text) or len(words(text)) > ANSWER_WORDS:
            return []
        return [step for step in self.plan(turns[:-1]) if step.missing]

    def _completed(self, step: Step, answer: str) -> Step:
        assert step.tool is not None
        said = f"{step.clause.text.rstrip(' .?!')}, {answer}"
        clause = step.clause._replace(text=said)
        if step.missing == (step.tool.written,):
            text = entities.QUOTED.fullmatch(answer.strip())
            arguments = {
                **step.arguments,
                step.tool.written: next(filter(None, text.groups())) if text else answer,
            }
            return replace(step, clause=clause, arguments=arguments, missing=())
        arguments, missing, _ = fill(step.tool, said, self.now, step.arguments)
        strings = {p.name for p in step.tool.parameters if p.kind == "string"}
        if len(missing) == 1 and missing[0] in strings and not missing[0].startswith("repo"):
            arguments, missing = {**arguments, missing[0]: answer.strip(" .?!\"'`@#")}, ()
        return replace(step, clause=clause, arguments=arguments, missing=missing)

    def _steps(self, clause: Clause, context: Context) -> list[Step]:
        """The step of a clause, or one for each thing that it names or asks for."""
        reading = clause.reading
        change = asked_change(reading)
        if change and any(tool.changes for tool in self.tools):
            return [self._routed(clause, context)]
        lacking = FORMS["lacking"].search(reading)
        if (
            lacking
            and context.repository
            and not FORMS["counts"].search(reading[: lacking.start()])
            and not any(tool.delegates or lacking[1].lower() in tool.noun for tool in self.tools)
        ):
            return [Step(clause, why=f"I have no tool that shows {lacking[1]}.")]
        of_a_row = FORMS["of_a_row"].search(reading)  # "does it have comments?"
        begins = reading[slice(*cuts(reading, FORMS["joint"], 0, len(reading))[0])]
        takes_up = followup.follows_up(begins) or entities.numbers(begins)  # "they" may be of the text itself
        leans = (takes_up and followup.follows_up(reading)) or (of_a_row and len(content_stems(reading)) <= 1)
        if leans and not change and context.previous and (of_a_row or not about_the_product(reading)):
            step = self._follow(clause, context)
        else:
            step = self._routed(clause, context)
        if step.tool is None or step.tool.text_parameter:
            return [step]
        several = entities.repositories(reading)
        if len(several) > 1:
            return [self._filled(clause, step.tool, replace(context, repository=each)) for each in several]
        identifiers = [name for name in step.tool.identifiers if name in step.arguments]
        values = dict.fromkeys(number.value for number in entities.numbers(reading))
        if len(identifiers) == 1 and step.arguments[identifiers[0]] in values:
            return [replace(step, arguments=step.arguments | {identifiers[0]: value}) for value in values]
        return [step]

    def _routed(self, clause: Clause, context: Context) -> Step:
        return self._filled(
            clause, route(clause.reading, self.tools, self.similarity, context.asks_from).tool, context
        )

    def _filled(self, clause: Clause, tool: ToolSpec | None, context: Context) -> Step:
        """The step with a tool, or with the one that lists what it shows one of where the words do not say which."""
        if tool is None:
            return Step(clause)
        shown, known = tool, context.repository
        filled = fill(tool, clause.text, self.now, repository_arguments(tool, known), known)
        listing = self._listing(tool, filled.missing)
        then = tool if one_by_place(tool, clause.reading) else None
        if listing and (then or not tool.changes):
            shown = listing
            filled = fill(shown, clause.text, self.now, repository_arguments(shown, known), known)
        else:
            then = None
        then = then or self._reader(shown, filled.arguments)
        return Step(clause, shown, filled.arguments, filled.missing, then, filled.excerpt)

    def _reader(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> ToolSpec | None:
        """The tool that shows in full what a list was asked for one of: "the newest issue"."""
        if all(arguments.get(name) != 1 for name in NAMES["limit"]):
            return None
        shown = (each for each in self.tools if each.noun and f"{each.noun}s" == tool.noun)
        return next((each for each in shown if each.identifiers), None)

    def _listing(self, tool: ToolSpec, missing: Sequence[str]) -> ToolSpec | None:
        """The tool that lists what `tool` shows one of, where the sentence does not say which one by its number."""
        named = next((name for name in tool.identifiers if name in missing), None)
        if named is None:
            return None
        topic = (
            tool.noun if named in {"number"} | NAMES["hash"] else named.removesuffix("_id").replace("_", " ")
        )
        return next((t for t in self.tools if t.noun and topic in t.noun and not t.shows_one), None)

    def _follow(self, clause: Clause, context: Context) -> Step:
        """The step of a clause that may lean on the call before it."""
        reading, previous = clause.reading, context.previous
        assert previous is not None
        tool = next((tool for tool in self.tools if tool.name == previous.tool), None)
        if tool is None:
            return self._routed(clause, context)
        row = followup.picked_row(reading, previous)
        readers = [each for each in self.tools if not each.changes]
        detail = followup.detail_call(row, previous, readers) if row else None
        detail = detail or followup.picked_document(reading, previous, self.tools)
        if detail:
            shown, arguments = detail
            return Step(clause, shown, {**flags(shown, reading), **arguments})
        topic = followup.without_opening(reading)
        found = route(topic, self.tools, self.similarity, context.asks_from)
        if found.tool is None or found.tool == tool or found.score < SWITCH or followup.is_bare(topic):
            return self._again(clause, tool, previous)
        placed = FORMS["ordinal"].search(reading)
        same = (
            FORMS["of_the_shown"].search(reading)
            if tool.shows_one
            else placed or FORMS["of_those"].search(reading)
        )
        stays = same and not set(content_stems(found.tool.noun)) & set(content_stems(reading))
        if stays or FORMS["same_again"].match(reading):
            return self._again(clause, tool, previous)
        return self._filled(clause, found.tool, context)

    def _again(self, clause: Clause, tool: ToolSpec, previous: Call) -> Step:
        """The previous call with what the new words say in place of what it said; free text is the new words alone."""
        states = {p.name: p.default for p in tool.parameters if p.name in ("state", "status") and p.default}
        filled = fill(tool, clause.text, self.now, {**states, **previous.arguments})
        topic = followup.without_opening(clause.text)
        said = {name: clause.text for name in NAMES["delegating"] if tool.accepts(name)}
        said |= dict.fromkeys(NAMES["free_text"] & filled.arguments.keys(), topic)
        return Step(
            clause, tool, filled.arguments | said, filled.missing, self._reader(tool, filled.arguments)
        )


def _previous(calls: Sequence[Call], steps: Sequence[Step]) -> Call | None:
    """The call that a clause may lean on: of the clause before it, else of the turns before, `calls`, newest first."""
    own = [Call(step.tool.name, step.arguments) for step in steps if step.tool and not step.missing]
    return own[-1] if own else next(iter(calls), None)


def _shared(readings: Sequence[str], index: int) -> tuple[str, str] | None:
    """The repository that a clause shares with its neighbours: the one named before it, else after it."""
    order = [*reversed(readings[:index]), *readings[index + 1 :]]
    return next(filter(None, map(entities.repository, order)), None)


def _repository_before(calls: Sequence[Call]) -> tuple[str, str] | None:
    """The repository that the conversation was about last."""
    said = (
        links_in_words(legible(str(call.arguments.get(name, ""))).text)
        for call in calls
        for name in NAMES["delegating"]
    )
    named = filter(None, (repository_of(call.arguments) for call in calls))
    return next(named, next(filter(None, map(entities.repository, said)), None))
