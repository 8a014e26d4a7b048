"""From a conversation to the steps of its last request: which tool for which clause, with which arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from utils.llm.offline import entities, followup
from utils.llm.offline.arguments import fill, repository_arguments, repository_of
from utils.llm.offline.changes import changing
from utils.llm.offline.clauses import Clause, opens_a_request, split
from utils.llm.offline.conversation import Call, Turn
from utils.llm.offline.links import links_in_words
from utils.llm.offline.route import one_by_place, route
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.smalltalk import small_talk, without_prelude
from utils.llm.offline.tools import DELEGATING, FREE_TEXT, ToolSpec
from utils.llm.offline.words import words

SWITCH = 0.5
"""Score from which a follow-up may go to another tool than the call before. Chosen on the `tune` split of tests/eval."""
QUESTION_TAIL = 200
"""Characters at the end of an answer in which a question of ours stands."""
ANSWER_WORDS = 8
"""Words of an answer to a question of ours at most; more is a new request."""


@dataclass(frozen=True, slots=True)
class Step:
    """One clause with its tool and arguments.

    No tool: nothing fits. `missing`: what has to be asked for. `then`: the tool for the row that this one finds.
    `excerpt`: what is searched for in place of a clause that is too long for its tool.
    """

    clause: Clause
    reading: str
    tool: ToolSpec | None = None
    arguments: dict[str, Any] | None = None
    missing: tuple[str, ...] = ()
    then: ToolSpec | None = None
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class Planner:
    """What planning needs to know: the tools, how to compare texts, and the time."""

    tools: Sequence[ToolSpec]
    similarity: Similarity
    now: datetime

    def plan(self, turns: Sequence[Turn]) -> list[Step]:
        """The steps of the last turn's request, in the order of its clauses; empty for small talk."""
        request = without_prelude(turns[-1].request)
        if small_talk(request):
            return []
        waiting = self._waiting(turns)
        if waiting:
            return [self._completed(step, request) for step in waiting]
        clauses = split(request, [tool.noun for tool in self.tools if tool.noun])
        clauses = [clause for clause in clauses if len(clauses) == 1 or not small_talk(clause.text)]
        previous = next((turn.calls[-1] for turn in reversed(turns[:-1]) if turn.calls), None)
        readings = [links_in_words(clause.text) for clause in clauses]
        steps = [
            self._step(clause, reading, previous, _shared(readings, index) or _repository_before(turns))
            for index, (clause, reading) in enumerate(zip(clauses, readings, strict=True))
        ]
        return _merged(steps, request)

    def _waiting(self, turns: Sequence[Turn]) -> list[Step]:
        """Steps of the turn before that still need what this message may be the answer to."""
        text = turns[-1].request
        if len(turns) < 2 or "?" not in turns[-2].answer[-QUESTION_TAIL:]:  # noqa: PLR2004 - a turn and the one before
            return []
        if opens_a_request(text) or len(words(text)) > ANSWER_WORDS:
            return []
        return [step for step in self.plan(turns[:-1]) if step.missing]

    def _completed(self, step: Step, answer: str) -> Step:
        assert step.tool is not None
        said = f"{step.clause.text.rstrip(' .?!')}, {answer}"
        reading = links_in_words(said)
        filled = fill(step.tool, said, self.now, step.arguments)
        arguments = filled.arguments
        if len(filled.missing) == 1 and len(answer.split()) == 1:
            kind = next(p.kind for p in step.tool.parameters if p.name == filled.missing[0])
            value = answer.strip(" .?!\"'`@#")
            if kind == "string":
                return replace(
                    step, reading=reading, arguments={**arguments, filled.missing[0]: value}, missing=()
                )
        return replace(step, reading=reading, arguments=arguments, missing=filled.missing)

    def _step(
        self, clause: Clause, reading: str, previous: Call | None, known: tuple[str, str] | None
    ) -> Step:
        if previous and followup.follows_up(reading) and not changing(reading, self.tools):
            followed = self._follow(clause, reading, previous, known)
            if followed:
                return followed
        chosen = route(reading, self.tools, self.similarity).tool
        return self._filled(clause, reading, chosen, known)

    def _filled(
        self, clause: Clause, reading: str, tool: ToolSpec | None, known: tuple[str, str] | None
    ) -> Step:
        if tool is None:
            return Step(clause, reading)
        given = repository_arguments(tool, known)
        filled = fill(tool, clause.text, self.now, given)
        listing = self._listing(tool, filled.missing)
        then = tool if one_by_place(tool, reading) else None
        if listing and (then or not tool.changes):
            listed = fill(listing, clause.text, self.now, repository_arguments(listing, known))
            return Step(clause, reading, listing, listed.arguments, listed.missing, then)
        return Step(clause, reading, tool, filled.arguments, filled.missing, excerpt=filled.excerpt)

    def _listing(self, tool: ToolSpec, missing: Sequence[str]) -> ToolSpec | None:
        """The tool that lists what `tool` shows one of, where the sentence does not say which one by its number."""
        identifiers = [p for p in tool.parameters if p.is_identifier and p.name in missing]
        if not identifiers:
            return None
        word = identifiers[0].name.removesuffix("_id").replace("_", " ")
        topic = tool.noun if word == "number" else word
        lists = [
            t
            for t in self.tools
            if t.noun and topic in t.noun and not any(p.is_identifier and p.required for p in t.parameters)
        ]
        return next(iter(lists), None)

    def _follow(
        self, clause: Clause, reading: str, previous: Call, known: tuple[str, str] | None
    ) -> Step | None:
        tool = next((tool for tool in self.tools if tool.name == previous.tool), None)
        if tool is None:
            return None
        row = followup.picked_row(reading, previous)
        reading_tools = [each for each in self.tools if not each.changes]
        detail = followup.detail_call(row, previous, reading_tools) if row else None
        detail = detail or followup.picked_document(reading, previous, self.tools)
        if detail:
            return Step(clause, reading, *detail)
        routed = route(followup.without_opening(reading), self.tools, self.similarity)
        if routed.tool and routed.tool != tool and routed.score >= SWITCH and not followup.is_bare(reading):
            return self._filled(clause, reading, routed.tool, known)
        if routed.tool is None and opens_a_request(reading) and not followup.follows_up(reading):
            return None
        return self._again(clause, reading, tool, previous)

    def _again(self, clause: Clause, reading: str, tool: ToolSpec, previous: Call) -> Step:
        """The previous call with what the new words say in place of what it said."""
        filled = fill(tool, clause.text, self.now, previous.arguments)
        arguments = dict(filled.arguments)
        for parameter in tool.parameters:
            before = str(previous.arguments.get(parameter.name, ""))
            if parameter.name in DELEGATING:
                arguments[parameter.name] = followup.rewritten(before, reading) or clause.text
            elif parameter.name in FREE_TEXT:
                arguments[parameter.name] = _new_terms(before, clause.text)
        return Step(clause, reading, tool, arguments, filled.missing)


def _new_terms(before: str, said: str) -> str:
    reading = links_in_words(said)
    only_repository = entities.repository_text(reading) and followup.is_bare(
        followup.without_opening(reading)
    )
    return before if only_repository else followup.joined_question(before, said)


def _shared(readings: Sequence[str], index: int) -> tuple[str, str] | None:
    """The repository that a clause shares with its neighbours: the one named before it, else after it."""
    order = [*reversed(readings[:index]), *readings[index + 1 :]]
    return next((named for text in order if (named := entities.repository(text))), None)


def _repository_before(turns: Sequence[Turn]) -> tuple[str, str] | None:
    """The repository that the conversation was about last."""
    calls = [call for turn in reversed(turns[:-1]) for call in reversed(turn.calls)]
    return next((named for call in calls if (named := repository_of(call.arguments))), None)


def _merged(steps: Sequence[Step], request: str) -> list[Step]:
    """Neighbouring clauses for the same agent as one request, in the user's own words."""
    merged: list[Step] = []
    for step in steps:
        last = merged[-1] if merged else None
        if last and step.tool and step.tool == last.tool and step.tool.delegates and last.arguments:
            clause = Clause(
                request[last.clause.start : step.clause.end].strip(" ,"), last.clause.start, step.clause.end
            )
            name = next(p.name for p in step.tool.parameters if p.name in DELEGATING)
            merged[-1] = replace(last, clause=clause, arguments={**last.arguments, name: clause.text})
        else:
            merged.append(step)
    return merged
