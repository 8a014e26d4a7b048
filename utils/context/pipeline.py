"""The pipeline that runs before every model request. No graph, clock, environment or logger inside.

Stages, in order, each only as far as needed: repair, truncate, clear, compress, summarise, clip,
verify. The result is a view: messages are never deleted, and the decisions that make the view are
handed back as a `Compaction` for the graph's state.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field

from langchain_core.messages import BaseMessage, SystemMessage

from utils.context import stages
from utils.context.compaction import Compaction, view_of
from utils.context.draft import Draft
from utils.context.policy import ContextPolicy
from utils.context.protocols import Summariser, TokenCounter
from utils.context.registry import pins_of, within
from utils.context.report import Report, charged
from utils.context.stages import Tools
from utils.context.verify import by_kind, checked, clipped_request
from utils.messages.counter import Calibration
from utils.messages.handles import handles_in
from utils.messages.repair import Repair, merge_system, repair
from utils.messages.text import message_text
from utils.messages.transcript import split_system, with_ids


@dataclass(frozen=True, slots=True)
class Request:
    """A model request as the agent means it.

    Attributes:
        messages: The whole conversation.
        system: The agent's system message.
        tool_tokens: Counted tokens of the tool schemas.
        turn_start: Whether the user has just spoken; found from the messages when unset.
        pinned: Constraints that were pinned otherwise than by the user's words.
        force: Whether to compact at once, as after a rejected request.
    """

    messages: Sequence[BaseMessage]
    system: SystemMessage | None = None
    tool_tokens: int = 0
    turn_start: bool | None = None
    pinned: tuple[str, ...] = ()
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

    Raises:
        ContextBudgetExceeded: System prompt, tools and pinned constraints alone do not fit.
    """
    repaired = repair(with_ids(request.messages))
    draft = _begin(request, repaired, policy.scaled(parts.calibration.ratio), parts, compaction)
    stages.check_fixed(draft, policy)
    before = draft.total
    turn_start = draft.view[-1].type == "human" if request.turn_start is None else request.turn_start
    draft = await _run(
        draft, Tools(parts.summariser, parts.cache), turn_start or request.force, request.force
    )
    draft, wrong = checked(draft)
    return _finish(draft, repaired, policy=policy, calibration=parts.calibration, before=before, wrong=wrong)


async def _run(draft: Draft, tools: Tools, turn_start: bool, force: bool) -> Draft:
    draft = stages.truncate_stage(draft)
    draft = stages.clear_stage(draft, force=force)
    draft = await stages.compress_stage(draft, tools)
    draft = await stages.summarise_stage(draft, tools, turn_start=turn_start, force=force)
    return stages.clip_stage(draft)


def _begin(
    request: Request,
    repaired: Repair,
    policy: ContextPolicy,
    parts: Parts,
    compaction: Compaction | None,
) -> Draft:
    inner, talk = split_system(repaired.messages)
    system = merge_system([*([request.system] if request.system else []), *inner])
    pins = pins_of(talk, request.pinned)
    decided = compaction or Compaction()
    allowed = int(policy.input_budget * policy.pinned_share)
    return Draft(
        talk=tuple(talk),
        system=system[0] if system else None,
        pinned=tuple(pin.text for pin in within(pins, allowed, parts.counter)),
        tool_tokens=request.tool_tokens,
        policy=policy,
        counter=parts.counter,
        compaction=decided,
        view=tuple(view_of(talk, decided)),
    )


def _finish(
    draft: Draft,
    repaired: Repair,
    *,
    policy: ContextPolicy,
    calibration: Calibration,
    before: int,
    wrong: Sequence[str],
) -> Prepared:
    system = draft.block()
    shown = [*([system] if system else []), *draft.view]
    ratio = calibration.ratio
    report = Report(
        before=calibration.charged(before),
        after=calibration.charged(draft.total),
        limit=policy.input_budget,
        window=policy.window,
        counted=draft.total,
        by_kind={kind: round(tokens * ratio) for kind, tokens in by_kind(draft).items()},
        steps=tuple(charged(step, ratio) for step in draft.steps),
        interrupted=repaired.interrupted,
        dropped=repaired.dropped,
        clipped_request=clipped_request(draft),
        violations=tuple(wrong),
    )
    handles = dict.fromkeys(h for message in shown for h in handles_in(message_text(message)))
    return Prepared(system, list(draft.view), draft.compaction, draft.artifacts, tuple(handles), report)
