"""The pipeline that runs before every model request. No graph, clock, environment or logger inside.

Stages, in order, each only as far as needed: repair, truncate, clear, compress, summarise, clip,
verify. The result is a view: messages are never deleted, and the decisions that make the view are
handed back as a `Compaction` for the graph's state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from utils.context import stages
from utils.context.compaction import Compaction, visible_messages
from utils.context.constraints import Constraint, constraints_in, within
from utils.context.draft import Draft, repeated_as_user
from utils.context.offload import call, is_large
from utils.context.policy import ContextPolicy
from utils.context.protocols import Summariser, TokenCounter
from utils.context.report import Report, charged
from utils.context.stages import SummaryTools
from utils.context.verify import by_kind, checked, clipped_request
from utils.messages.counter import Calibration
from utils.messages.handles import handles_in
from utils.messages.repair import merge_system, repair
from utils.messages.text import message_text
from utils.messages.transcript import is_stand_in, with_ids


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
    pinned: tuple[Constraint, ...] = ()
    force: bool = False


@dataclass(frozen=True, slots=True)
class Parts:
    """What the pipeline works with.

    Attributes:
        counter: Counts tokens.
        summariser: Writes summaries; extracts are made where it is unset or fails.
        calibration: What the provider charges for each counted token.
        cache: Short forms of articles by content, shared between requests.
    """

    counter: TokenCounter
    summariser: Summariser | None = None
    calibration: Calibration = field(default_factory=Calibration)
    cache: MutableMapping[str, str] = field(default_factory=dict)


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

    Nothing but token counts is kept from one request to the next: each conversation is repaired and
    checked from its first message. Work on a large one runs in a thread, for the sake of the event loop.

    Raises:
        ContextBudgetExceeded: System prompt, tools and pinned constraints alone do not fit.
    """
    large = is_large(request.messages)
    draft, before = await call(large, _begin, request, policy, parts, compaction or Compaction())
    turn_start = draft.visible[-1].type == "human" if request.turn_start is None else request.turn_start
    draft = await call(large, _shorten_results, draft, request.force)
    draft = await _summarise(draft, SummaryTools(parts.summariser, parts.cache), turn_start, request.force)
    return await call(large, _finish, draft, policy, parts.calibration, before)


def _begin(
    request: Request, policy: ContextPolicy, parts: Parts, compaction: Compaction
) -> tuple[Draft, int]:
    """The repaired conversation in the view decided so far, and the tokens of that request."""
    repaired = repair(with_ids(request.messages))
    scaled = _in_turns(policy.scaled(parts.calibration.ratio), repaired.history)
    constraints = within(
        constraints_in(repaired.history, request.pinned),
        int(scaled.input_budget * scaled.pinned_share),
        parts.counter,
    )
    draft = Draft(
        repaired=repaired,
        system=merge_system([part for part in (request.system, repaired.system) if part]),
        pinned=tuple(constraint.text for constraint in constraints),
        tool_tokens=request.tool_tokens,
        policy=scaled,
        counter=parts.counter,
        compaction=compaction,
        visible=tuple(visible_messages(repaired.history, compaction)),
    )
    stages.check_fixed(draft, policy)
    return draft, draft.total


def _shorten_results(draft: Draft, force: bool) -> Draft:
    return stages.clear_stage(stages.truncate_stage(draft), force=force)


async def _summarise(draft: Draft, tools: SummaryTools, turn_start: bool, force: bool) -> Draft:
    draft = await stages.compress_stage(draft, tools)
    draft = await stages.summarise_stage(draft, tools, turn_start=turn_start, force=force)
    if draft.total <= draft.budget:
        return draft
    return await asyncio.to_thread(
        stages.clip_stage, draft
    )  # up to half a second for a very long conversation


def _in_turns(policy: ContextPolicy, history: Sequence[BaseMessage]) -> ContextPolicy:
    """The policy with its limit of turns as one of messages, which is another in each conversation."""
    if policy.max_turns is None:
        return policy
    turns = 0
    for index in range(len(history) - 1, -1, -1):
        turns += isinstance(history[index], HumanMessage) and not is_stand_in(history[index])
        if turns > policy.max_turns:
            return replace(policy, max_messages=len(history) - index)
    return policy


def _finish(draft: Draft, policy: ContextPolicy, calibration: Calibration, before: int) -> Prepared:
    """The checked request and the report of what was done to it."""
    draft, wrong = checked(draft)
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
        interrupted=draft.repaired.interrupted,
        dropped=draft.repaired.dropped,
        clipped_request=clipped_request(draft),
        violations=tuple(wrong),
    )
    messages = [*repeated_as_user(system, draft.policy), *draft.visible]
    named = (
        handle
        for m in (*([system] if system else []), *draft.visible)
        for handle in handles_in(message_text(m))
    )
    handles = tuple(dict.fromkeys(named))
    return Prepared(system, messages, draft.compaction, draft.artifacts, handles, report)
