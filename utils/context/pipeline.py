"""The pipeline that runs before every model request. It uses no graph, clock, environment or logger.

The stages stand in `prepare`, each only as far as needed. The result is a view: no message is deleted, and the decisions
behind the view are returned as a `Compaction`, which the caller stores in the graph's state.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from utils.context import stages
from utils.context.block import older_line
from utils.context.compaction import Compaction, visible_messages
from utils.context.constraints import Constraint, Edit, constraints_in, within
from utils.context.draft import Draft, repeated_as_user
from utils.context.policy import ContextPolicy
from utils.context.protocols import Summariser, TokenCounter
from utils.context.refused import Refused, decisions_without, without_refused
from utils.context.report import Report, charged
from utils.context.stages import SummaryTools
from utils.context.verify import by_kind, checked, clipped_request
from utils.context.worker_thread import call, is_large
from utils.messages.counter import Calibration
from utils.messages.handles import handle_of, handles_in
from utils.messages.repair import merge_system, repair
from utils.messages.text import message_text
from utils.messages.transcript import is_stand_in, with_ids


@dataclass(frozen=True, slots=True)
class Request:
    """A model request before the pipeline.

    Attributes:
        messages: The complete conversation.
        system: The agent's system message.
        tool_tokens: Counted tokens of the tool schemas.
        turn_start: Whether a turn begins; if unset, whether the last message is the user's.
        pinned: Constraints that a model found in the user's messages.
        edits: Constraints that the user added or removed by command.
        force: Whether to compact whatever the size, as after a rejected request.
        calls_left: Model calls that may follow in this turn; no limit if unset.
        refused: What a provider refused before, which is left out.
    """

    messages: Sequence[BaseMessage]
    system: SystemMessage | None = None
    tool_tokens: int = 0
    turn_start: bool | None = None
    pinned: tuple[Constraint, ...] = ()
    edits: tuple[Edit, ...] = ()
    force: bool = False
    calls_left: int | None = None
    refused: Refused = field(default_factory=Refused)


@dataclass(frozen=True, slots=True)
class Parts:
    """Dependencies of the pipeline.

    Attributes:
        counter: Counts tokens.
        summariser: Writes summaries; if it is unset or fails, an extract is made instead.
        calibration: Ratio of charged to counted tokens.
        cache: Compressed articles by content hash, shared between requests.
        ahead: Whether a model writes summaries after answers only.
    """

    counter: TokenCounter
    summariser: Summariser | None = None
    calibration: Calibration = field(default_factory=Calibration)
    cache: MutableMapping[str, str] = field(default_factory=dict)
    ahead: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that fits.

    Attributes:
        system: The system message to send, with pinned constraints and summary.
        messages: The messages to send after it.
        compaction: Decisions to keep in the graph's state.
        artifacts: Texts to store before the request is sent, by handle.
        handles: Handles that the request names.
        report: What was done.
        rules: Every constraint in force, each with whether the request shows it.
    """

    system: SystemMessage | None
    messages: list[BaseMessage]
    compaction: Compaction
    artifacts: Mapping[str, str]
    handles: tuple[str, ...]
    report: Report
    rules: tuple[tuple[str, bool], ...] = ()

    def all_messages(self) -> list[BaseMessage]:
        """All messages as sent, the system message first."""
        return [*([self.system] if self.system else []), *self.messages]


async def prepare(
    request: Request, policy: ContextPolicy, parts: Parts, compaction: Compaction | None = None
) -> Prepared:
    """Make a request that satisfies every rule of `utils.messages.invariants`.

    Only token counts are cached between requests: every request repairs and checks the complete
    conversation. For a large conversation this runs in a worker thread, to keep the event loop free.

    Raises:
        ContextBudgetExceeded: System prompt, tools and pinned constraints alone do not fit.
    """
    large, force = is_large(request.messages), request.force
    tools = SummaryTools(parts.summariser, parts.cache, parts.ahead)
    # repair: every call has its one result; the constraints in force are found; the stored decisions are applied
    draft, before = await call(large, _begin, request, policy, parts, compaction or Compaction())
    turn_start = _begins_turn(draft.visible[-1]) if request.turn_start is None else request.turn_start
    # oversized results are cut, old ones are left out
    draft = await call(large, _shorten_results, draft, force)
    # results of searches are compressed, the least relevant first
    draft = await stages.compress_stage(draft, tools)
    # the oldest messages become a summary
    draft = await stages.summarise_stage(draft, tools, turn_start=turn_start, force=force)
    # the largest messages are clipped, where the request is still too long: up to half a second of work
    draft = await call(draft.total > draft.budget, stages.clip_stage, draft)
    # verify: a request that violates a rule is replaced by the smallest one
    return await call(large, _finish, draft, policy, parts.calibration, before)


def _begin(
    request: Request, policy: ContextPolicy, parts: Parts, compaction: Compaction
) -> tuple[Draft, int]:
    """Draft of the request from the stored decisions, and its tokens."""
    messages = with_ids(request.messages)
    accepted = without_refused(messages, request.refused)
    compaction = decisions_without(compaction, messages, accepted, request.refused)
    repaired = repair(accepted)
    scaled = _in_turns(policy.scaled(parts.calibration.ratio), repaired.history)
    found = constraints_in(repaired.history, request.pinned, request.edits)
    in_force = [each.text for each in found if each.text not in request.refused.rules]
    shown = within(in_force, int(scaled.input_budget * scaled.pinned_share), parts.counter)
    older = in_force[: len(in_force) - len(shown)]
    stored = {handle_of(text): text for text in ["\n".join(older)] if older}
    draft = Draft(
        repaired=repaired,
        system=merge_system([part for part in (request.system, repaired.system) if part]),
        pinned=(*(older_line(len(older), handle) for handle in stored), *shown),
        tool_tokens=request.tool_tokens,
        policy=scaled,
        counter=parts.counter,
        compaction=compaction.with_given(stored),
        visible=tuple(visible_messages(repaired.history, compaction)),
        artifacts=stored,
        rules=tuple((text, place >= len(older)) for place, text in enumerate(in_force)),
        calls_left=request.calls_left,
    )
    stages.check_fixed(draft, policy)
    return draft, draft.total


def _begins_turn(last: BaseMessage) -> bool:
    """Whether the last message is a request, and not what a tool returned beside text."""
    return isinstance(last, HumanMessage) and not is_stand_in(last)


def _shorten_results(draft: Draft, force: bool) -> Draft:
    return stages.clear_stage(stages.truncate_stage(draft), force=force)


def _in_turns(policy: ContextPolicy, history: Sequence[BaseMessage]) -> ContextPolicy:
    """The policy with `max_turns` converted into `max_messages` for this conversation."""
    if policy.max_turns is None:
        return policy
    turns = 0
    for index in range(len(history) - 1, -1, -1):
        turns += isinstance(history[index], HumanMessage) and not is_stand_in(history[index])
        if turns > policy.max_turns:
            return replace(policy, max_messages=len(history) - index)
    return policy


def _finish(draft: Draft, policy: ContextPolicy, calibration: Calibration, before: int) -> Prepared:
    """Check the draft and build the result with its report."""
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
        ratio=ratio,
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
    return Prepared(system, messages, draft.compaction, draft.artifacts, handles, report, draft.rules)
