"""The pipeline that runs before every model request. No graph, clock, environment or logger inside.

Stages, in order, each only as far as needed: repair, truncate, clear, compress, summarise, clip,
verify. The result is a view: messages are never deleted, and the decisions that make the view are
handed back as a `Compaction` for the graph's state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from utils.context import stages
from utils.context.compaction import Compaction, view_of
from utils.context.draft import Draft, repeated_as_user
from utils.context.memory import Memory, Remembered, known_of
from utils.context.policy import ContextPolicy
from utils.context.protocols import Summariser, TokenCounter
from utils.context.registry import Pin, with_pins_of, within
from utils.context.report import Report, charged
from utils.context.stages import Tools
from utils.context.verify import by_kind, checked, clipped_request
from utils.messages.counter import Calibration
from utils.messages.handles import handles_in
from utils.messages.repair import merge_system
from utils.messages.settled import Whole, grown
from utils.messages.text import message_text
from utils.messages.transcript import is_stand_in


@dataclass(frozen=True, slots=True)
class Request:
    """A model request as the agent means it.

    Attributes:
        messages: The whole conversation.
        system: The agent's system message.
        tool_tokens: Counted tokens of the tool schemas.
        turn_start: Whether the user has just spoken; found from the messages when unset.
        pinned: Constraints that a model found in the user's messages.
        force: Whether to compact at once, as after a rejected request.
    """

    messages: Sequence[BaseMessage]
    system: SystemMessage | None = None
    tool_tokens: int = 0
    turn_start: bool | None = None
    pinned: tuple[Pin, ...] = ()
    force: bool = False


@dataclass(frozen=True, slots=True)
class Parts:
    """What the pipeline works with.

    Attributes:
        counter: Counts tokens.
        summariser: Writes summaries; extracts are made where it is unset or fails.
        calibration: What the provider charges for each counted token.
        cache: Short forms of articles by content, shared between requests.
        memory: What is remembered of this conversation from its last request.
    """

    counter: TokenCounter
    summariser: Summariser | None = None
    calibration: Calibration = field(default_factory=Calibration)
    cache: MutableMapping[str, str] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that fits.

    Attributes:
        system: The system message to send, with pinned constraints and summary.
        messages: The messages to send after it.
        compaction: Decisions to keep in the graph's state.
        artifacts: Texts to keep before the request is sent, by handle.
        handles: Handles that can be read in the request.
        report: What was done.
    """

    system: SystemMessage | None
    messages: list[BaseMessage]
    compaction: Compaction
    artifacts: Mapping[str, str]
    handles: tuple[str, ...]
    report: Report

    def whole(self) -> list[BaseMessage]:
        """All messages as sent, the system message first."""
        return [*([self.system] if self.system else []), *self.messages]


async def prepare(
    request: Request, policy: ContextPolicy, parts: Parts, compaction: Compaction | None = None
) -> Prepared:
    """Make a request that keeps every rule of `utils.messages.invariants`.

    Raises:
        ContextBudgetExceeded: System prompt, tools and pinned constraints alone do not fit.
    """
    recalled = _recalled(parts.memory.take(), request)
    remembered, whole = recalled
    draft = _begin(request, policy.scaled(parts.calibration.ratio), parts, compaction, recalled)
    stages.check_fixed(draft, policy)
    before = draft.total
    turn_start = draft.view[-1].type == "human" if request.turn_start is None else request.turn_start
    draft = await _run(
        draft, Tools(parts.summariser, parts.cache), turn_start or request.force, request.force
    )
    draft, wrong = checked(draft)
    prepared = _finish(draft, whole, policy=policy, calibration=parts.calibration, before=before, wrong=wrong)
    if not wrong:
        remembered.known = known_of(draft)
        parts.memory.put(remembered)
    return prepared


async def _run(draft: Draft, tools: Tools, turn_start: bool, force: bool) -> Draft:
    draft = stages.truncate_stage(draft)
    draft = stages.clear_stage(draft, force=force)
    draft = await stages.compress_stage(draft, tools)
    draft = await stages.summarise_stage(draft, tools, turn_start=turn_start, force=force)
    if draft.total <= draft.budget:
        return draft
    return await asyncio.to_thread(
        stages.clip_stage, draft
    )  # up to half a second on a very long conversation


class _Recalled(NamedTuple):
    remembered: Remembered
    whole: Whole


def _recalled(remembered: Remembered | None, request: Request) -> _Recalled:
    """What holds of the request before, and the repaired conversation."""
    settled, whole = grown(remembered.settled if remembered else None, request.messages)
    if remembered is None or settled is not remembered.settled:
        remembered = Remembered(settled)
    return _Recalled(remembered, whole)


def _begin(
    request: Request, policy: ContextPolicy, parts: Parts, compaction: Compaction | None, recalled: _Recalled
) -> Draft:
    remembered, whole = recalled
    policy = _in_turns(policy, whole.talk)
    system = merge_system([*([request.system] if request.system else []), *whole.system])
    pins = list(_pins(request, whole, remembered).values())
    decided = compaction or Compaction()
    known = remembered.known
    if known is not None and not known.goes_on(decided, parts.counter):
        known = None
    return Draft(
        talk=tuple(whole.talk),
        system=system[0] if system else None,
        pinned=tuple(
            pin.text for pin in within(pins, int(policy.input_budget * policy.pinned_share), parts.counter)
        ),
        tool_tokens=request.tool_tokens,
        policy=policy,
        counter=parts.counter,
        compaction=decided,
        view=tuple(known.view_of(whole.talk) if known else view_of(whole.talk, decided)),
        settled=whole.settled,
        outputs=remembered.settled.outputs,
        known=known,
    )


def _in_turns(policy: ContextPolicy, talk: Sequence[BaseMessage]) -> ContextPolicy:
    """The policy with its limit of turns as one of messages, which is another in each conversation."""
    if policy.max_turns is None:
        return policy
    turns = 0
    for index in range(len(talk) - 1, -1, -1):
        turns += isinstance(talk[index], HumanMessage) and not is_stand_in(talk[index])
        if turns > policy.max_turns:
            return replace(policy, max_messages=len(talk) - index)
    return policy


def _pins(request: Request, whole: Whole, remembered: Remembered) -> dict[str, Pin]:
    """The constraints in force; those of the settled beginning are remembered."""
    extra = request.pinned
    if remembered.extra != extra:
        remembered.extra, remembered.read, remembered.pinned = extra, 0, {}
    remembered.pinned = with_pins_of(whole.talk[remembered.read : whole.settled], remembered.pinned, extra)
    remembered.read = whole.settled
    return with_pins_of(whole.talk[whole.settled :], remembered.pinned, extra)


def _finish(
    draft: Draft,
    whole: Whole,
    *,
    policy: ContextPolicy,
    calibration: Calibration,
    before: int,
    wrong: Sequence[str],
) -> Prepared:
    system = draft.block()
    ratio = calibration.ratio
    report = Report(
        before=calibration.charged(before),
        after=calibration.charged(draft.total),
        limit=policy.input_budget,
        window=policy.window,
        counted=draft.total,
        by_kind={kind: round(tokens * ratio) for kind, tokens in by_kind(draft).items()},
        steps=tuple(charged(step, ratio) for step in draft.steps),
        interrupted=whole.interrupted,
        dropped=whole.dropped,
        clipped_request=clipped_request(draft),
        violations=tuple(wrong),
    )
    return Prepared(
        system,
        [*repeated_as_user(system, draft.policy), *draft.view],
        draft.compaction,
        draft.artifacts,
        _handles(draft, system),
        report,
    )


def _handles(draft: Draft, system: SystemMessage | None) -> tuple[str, ...]:
    """The handles that are named in a request, in order."""
    named = dict.fromkeys(handles_in(message_text(system)) if system else ())
    if draft.known:
        named |= draft.known.handles
    for message in draft.fresh:
        named |= dict.fromkeys(handles_in(message_text(message)))
    return tuple(named)
