"""From a conversation to the steps of its last request: which tool for which clause, with which arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from utils.llm.offline import entities, followup
from utils.llm.offline.arguments import fill, repository_arguments, repository_of
from utils.llm.offline.changes import asked_change
from utils.llm.offline.clauses import Clause, opens_a_request, split
from utils.llm.offline.conditions import with_conditions
from utils.llm.offline.conversation import Call, Turn
from utils.llm.offline.grammar import FORMS, WORDS
from utils.llm.offline.links import links_in_words
from utils.llm.offline.route import (
    ASKS_BESIDE,
    ASKS_KNOWN,
    ASKS_WHICH,
    Route,
    about_the_product,
    one_by_place,
    route,
)
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.smalltalk import Talk, small_talk, without_prelude
from utils.llm.offline.statements import with_statements
from utils.llm.offline.steps import Step, merged, sent
from utils.llm.offline.tools import DELEGATING, FREE_TEXT, LIMITS, ToolSpec
from utils.llm.offline.unmet import unmet, unread, without_story
from utils.llm.offline.words import content_stems, words

SWITCH = 0.5
"""Score from which a follow-up may go to another tool than the call before. Chosen on the `tune` split of tests/eval."""
NEARER = 0.2
"""How much nearer to another agent a part that leans on the one before it must be to go there."""
QUESTION_TAIL = 200
"""Characters at the end of an answer in which a question of ours stands."""
ANSWER_WORDS = 8
"""Words of an answer to a question of ours at most; more is a new request."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a clause may lean on.

    Attributes:
        previous: The call before it.
        repository: The one that the message or the conversation names.
        asks_from: The score from which an agent for repositories is asked although the clause names none.
        around: The clause with what the user says around it.
        subject: The arguments of the call for the part before it.
    """

    previous: Call | None
    repository: tuple[str, str] | None
    asks_from: float
    around: str
    subject: Mapping[str, Any]


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
        nouns = [tool.noun for tool in self.tools if tool.noun]
        clauses = split(request, [*nouns, *WORDS["lacked"]] if nouns else [])
        talk = [small_talk(clause.text) for clause in clauses]
        if None not in talk:
            return []
        told = (None, Talk.HELP)
        clauses = [clause for clause, kind in zip(clauses, talk, strict=True) if kind in told]
        clauses = with_conditions(with_statements(clauses, request))
        spans = [links_in_words(request[clause.start : clause.end]) for clause in clauses]
        steps: list[Step] = []
        for index, clause in enumerate(clauses):
            beside = entities.repository(spans[index]) or _shared(spans, index)
            before = _repository_before(turns)
            context = Context(
                _previous(turns, steps, clause.text),
                beside or before,
                ASKS_BESIDE if beside else ASKS_KNOWN if before else ASKS_WHICH,
                request[clause.start : clause.end],
                steps[-1].arguments if steps else {},
            )
            part = _with_noun(clause, steps[-1].tool if steps else None)
            steps += self._steps(part, links_in_words(part.text), context)
        steps = merged(steps, request)
        whole = len(steps) == 1 and not steps[0].excerpt
        libraries = {tool.name for tool in self.tools if tool.is_library and not tool.delegates}
        found = (call for turn in reversed(turns[:-1]) for call in reversed(turn.calls))
        searched = next((call for call in found if call.tool in libraries), None)
        return [self._told(sent(step, request, whole=whole, before=searched)) for step in steps]

    def _told(self, step: Step) -> Step:
        if step.tool is None or step.missing:
            return step
        text = without_story(step.clause.text, step.tool)
        found = unmet(step.tool, text, step.arguments, self.tools)
        found += unread(step.tool, text, step.arguments, step.then)
        named = dict.fromkeys(sorted(found, key=lambda each: (-len(each), found.index(each))))
        kept = [each for each in named if not any(each != other and each in other for other in named)]
        return replace(step, unmet=tuple(sorted(kept, key=found.index)))

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
        filled = fill(step.tool, said, self.now, step.arguments)
        arguments, missing = filled.arguments, filled.missing
        strings = {p.name for p in step.tool.parameters if p.kind == "string"}
        if len(missing) == 1 and missing[0] in strings and not missing[0].startswith("repo"):
            arguments, missing = {**arguments, missing[0]: answer.strip(" .?!\"'`@#")}, ()
        return replace(step, reading=links_in_words(said), arguments=arguments, missing=missing)

    def _steps(self, clause: Clause, reading: str, context: Context) -> list[Step]:
        """The step of a clause, or one for each repository that it names."""
        known = context.repository
        change = asked_change(reading)
        if change and any(tool.changes for tool in self.tools):
            return self._with_change(clause, reading, change.start, context)
        lacking = FORMS["lacking"].search(reading)
        if (
            lacking
            and known
            and not FORMS["plan_counted"].search(reading[: lacking.start()])
            and not any(tool.delegates or lacking[1].lower() in tool.noun for tool in self.tools)
        ):
            return [Step(clause, reading, why=f"I have no tool that shows {lacking[1]}.")]
        step = self._step(clause, reading, context)
        several = entities.repositories(reading)
        if step.tool is None or step.tool.text_parameter:
            return [step]
        if len(several) > 1:
            return [self._filled(clause, reading, step.tool, each) for each in several]
        identifiers = [p.name for p in step.tool.parameters if p.is_identifier and p.name in step.arguments]
        values = dict.fromkeys(number.value for number in entities.numbers(reading))
        if len(identifiers) == 1 and step.arguments[identifiers[0]] in values and not several[1:]:
            return [replace(step, arguments=step.arguments | {identifiers[0]: value}) for value in values]
        if FORMS["compared"].search(reading) and not any(p.name == "state" for p in step.tool.parameters):
            return [Step(clause, reading, why="I cannot compare versions or commits of one repository.")]
        return [step]

    def _with_change(self, clause: Clause, reading: str, start: int, context: Context) -> list[Step]:
        """The step of a change, after those of what is asked to be shown before it."""
        before = FORMS["plan_joint"].sub("", reading[:start])
        shown = Clause(before, clause.start, clause.end)
        first = self._steps(shown, before, context) if opens_a_request(before) else []
        return [
            *first,
            self._filled(clause, reading, self._routed(reading, context).tool, context.repository),
        ]

    def _routed(self, reading: str, context: Context) -> Route:
        """The tool for a clause; what would be declined is read again with what the user says around it."""
        if context.repository and not content_stems(reading) and FORMS["of_the_one"].search(reading):
            whole = (each for each in self.tools if each.noun == "repository" or each.about_repositories)
            if tool := next(whole, None):
                return Route(tool, 1.0)
        found = route(reading, self.tools, self.similarity, context.asks_from)
        around = links_in_words(context.around)
        if found.tool is None and len(around) > len(reading) + ANSWER_WORDS:
            return route(around, self.tools, self.similarity, context.asks_from)
        return found

    def _step(self, clause: Clause, reading: str, context: Context) -> Step:
        if context.previous and _leans(reading) and not asked_change(reading):
            followed = self._follow(clause, reading, context.previous, context)
            if followed:
                return followed
        return self._filled(
            clause, reading, self._routed(reading, context).tool, context.repository, context.subject
        )

    def _filled(
        self,
        clause: Clause,
        reading: str,
        tool: ToolSpec | None,
        known: tuple[str, str] | None,
        subject: Mapping[str, Any] | None = None,
    ) -> Step:
        if tool is None:
            return Step(clause, reading)
        same = {
            p.name: (subject or {})[p.name]
            for p in tool.parameters
            if p.is_identifier and p.name in (subject or {})
        }
        filled = fill(tool, clause.text, self.now, repository_arguments(tool, known) | same, known)
        counted = tool.accepts("run_id") and any(number.counted for number in entities.numbers(reading))
        listing = self._listing(tool, ("run_id",) if counted else filled.missing)
        then = tool if counted or one_by_place(tool, reading) else None
        if listing and (then or not tool.changes):
            listed = fill(listing, clause.text, self.now, repository_arguments(listing, known), known)
            one = None if tool.changes else self._reader(listing, listed.arguments)
            return Step(clause, reading, listing, listed.arguments, listed.missing, then or one)
        return Step(
            clause,
            reading,
            tool,
            filled.arguments,
            filled.missing,
            self._reader(tool, filled.arguments),
            filled.excerpt,
        )

    def _reader(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> ToolSpec | None:
        """The tool that shows in full what a list was asked for one of: "the newest issue"."""
        one = any(arguments.get(name) == 1 for name in LIMITS)
        shown = [each for each in self.tools if each.noun and f"{each.noun}s" == tool.noun]
        return (
            next((each for each in shown if any(p.is_identifier for p in each.parameters)), None)
            if one
            else None
        )

    def _listing(self, tool: ToolSpec, missing: Sequence[str]) -> ToolSpec | None:
        """The tool that lists what `tool` shows one of, where the sentence does not say which one by its number."""
        identifiers = [p for p in tool.parameters if p.is_identifier and p.name in missing]
        if not identifiers:
            return None
        word = identifiers[0].name.removesuffix("_id").replace("_", " ")
        topic = tool.noun if word == "number" else word
        lists = [t for t in self.tools if t.noun and topic in t.noun and not t.shows_one]
        return next(iter(lists), None)

    def _follow(self, clause: Clause, reading: str, previous: Call, context: Context) -> Step | None:
        tool = next((tool for tool in self.tools if tool.name == previous.tool), None)
        if tool is None:
            return None
        row = followup.picked_row(reading, previous)
        reading_tools = [each for each in self.tools if not each.changes]
        detail = followup.detail_call(row, previous, reading_tools) if row else None
        detail = detail or followup.picked_document(reading, previous, self.tools)
        if detail:
            return Step(clause, reading, *detail)
        routed = self._routed(followup.without_opening(reading), context)
        if row and routed.tool and (named := followup.named_by(row, tool, routed.tool)):
            step = self._filled(clause, reading, routed.tool, context.repository)
            return replace(step, arguments=step.arguments | named)
        stays = (FORMS["of_the_one"] if tool.shows_one else FORMS["of_those"]).search(reading)
        if stays and routed.tool and not set(content_stems(routed.tool.noun)) & set(content_stems(reading)):
            return self._again(clause, reading, tool, previous)
        if routed.tool and routed.tool != tool and not followup.is_bare(reading):
            own = next((score for score, each in routed.ranking if each == tool), 0.0)
            beside = context.subject and opens_a_request(reading) and not FORMS["ones"].search(reading)
            if routed.score >= SWITCH or (
                beside and routed.score >= own + (NEARER if tool.delegates else 0.0)
            ):
                return self._filled(clause, reading, routed.tool, context.repository)
        if routed.tool is None and opens_a_request(reading) and not followup.follows_up(reading):
            return None
        return self._again(clause, reading, tool, previous)

    def _again(self, clause: Clause, reading: str, tool: ToolSpec, previous: Call) -> Step:
        """The previous call with what the new words say in place of what it said; free text is the new words alone."""
        filled = fill(tool, clause.text, self.now, previous.arguments)
        topic = followup.without_opening(clause.text)
        bare = entities.repository_text(links_in_words(clause.text)) and followup.is_bare(topic)
        said = {p.name: clause.text for p in tool.parameters if p.name in DELEGATING}
        if not bare:
            said |= {
                p.name: topic for p in tool.parameters if p.name in FREE_TEXT and p.name in filled.arguments
            }
        return Step(clause, reading, tool, filled.arguments | said, filled.missing)


def _leans(reading: str) -> bool:
    """Whether a clause leans on what was called before; a question about the product does not."""
    return followup.follows_up(reading) and not about_the_product(reading)


def _previous(turns: Sequence[Turn], steps: Sequence[Step], text: str) -> Call | None:
    """The call that a clause may lean on: of the clause before it, else of the turn before it.

    "The closed ones" lean on the last call that had a state.
    """
    own = [Call(step.tool.name, step.arguments) for step in steps if step.tool and not step.missing]
    if own:
        return own[-1]
    calls = [call for turn in reversed(turns[:-1]) for call in reversed(turn.calls)]
    stated = [call for call in calls if "state" in call.arguments or "status" in call.arguments]
    if stated and followup.names_a_state(text):
        return stated[0]
    return next(iter(calls), None)


def _with_noun(clause: Clause, listed: ToolSpec | None) -> Clause:
    """A clause with what the part before lists in place of "one": "the newest one's files" of pull requests."""
    noun = listed.noun.removesuffix("s") if listed and listed.accepts(*LIMITS) else ""
    return clause._replace(text=FORMS["placed_one"].sub(rf"\1 {noun}", clause.text)) if noun else clause


def _shared(readings: Sequence[str], index: int) -> tuple[str, str] | None:
    """The repository that a clause shares with its neighbours: the one named before it, else after it."""
    order = [*reversed(readings[:index]), *readings[index + 1 :]]
    return next((named for text in order if (named := entities.repository(text))), None)


def _repository_before(turns: Sequence[Turn]) -> tuple[str, str] | None:
    """The repository that the conversation was about last."""
    calls = [call for turn in reversed(turns[:-1]) for call in reversed(turn.calls)]
    said = (links_in_words(str(call.arguments.get(name, ""))) for call in calls for name in DELEGATING)
    return next(
        (named for call in calls if (named := repository_of(call.arguments))),
        next((named for text in said if (named := entities.repository(text))), None),
    )
