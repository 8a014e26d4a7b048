"""Runs one generated history through the pipeline and tells what went wrong, with checks of its own."""

import asyncio
import json
import re
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from tests.property.context.histories import History
from tests.property.context.rules import refusals
from utils.context.compaction import Compaction
from utils.context.pipeline import Parts, Prepared, Request, prepare
from utils.context.policy import PRESETS, ContextPolicy
from utils.errors import ContextBudgetExceeded
from utils.messages.counter import MessageCounter
from utils.messages.handles import handles_in
from utils.messages.tokens import count_message_tokens, count_messages_tokens

T = TypeVar("T")

SMALLEST = 96
"""Tokens for a clipped request and a summary, below which a refusal is right."""

EXTRACT_TO = 0.9
"""Half of the histories are condensed as far as an agent without a model does it."""


@dataclass
class Outcome:
    """What one history did. Every list but `views` and `refused` should stay empty."""

    over: list[str] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    lost_requests: list[str] = field(default_factory=list)
    lost_constraints: list[str] = field(default_factory=list)
    wrong_refusals: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    lost_media: list[str] = field(default_factory=list)
    refused: int = 0
    requests: int = 0
    compacted: int = 0
    views: list[list[BaseMessage]] = field(default_factory=list)
    interrupted: set[str] = field(default_factory=set)
    """Calls without a result at an earlier request, which were answered as interrupted: a later result is not theirs."""

    @property
    def faults(self) -> list[str]:
        return [
            *self.over,
            *self.invalid,
            *self.lost_requests,
            *self.lost_constraints,
            *self.wrong_refusals,
            *self.broken,
            *self.lost_media,
        ]


def run(history: History, counter: MessageCounter, *, keep_views: bool = False) -> Outcome:
    """Send the history as it grows, each request with what the one before decided."""
    outcome = Outcome()
    policy = PRESETS[history.preset](history.window)
    if history.window % 2:
        policy = replace(policy, extract_to=EXTRACT_TO)
    compaction, stored, parts = Compaction(), dict[str, str](), Parts(counter)
    for cut in history.cuts:
        messages = history.messages[:cut]
        request = Request(messages, history.system, history.tool_tokens)
        outcome.requests += 1
        try:
            prepared = finish(prepare(request, policy, parts, compaction))
        except ContextBudgetExceeded as error:
            outcome.refused += 1
            if not _must_refuse(history, policy):
                outcome.wrong_refusals.append(str(error))
            return outcome
        stored |= prepared.artifacts
        compaction = Compaction.from_state(prepared.compaction.as_state())
        outcome.compacted += bool(prepared.report.steps)
        _judge(history, messages, policy, prepared, stored=stored, outcome=outcome)
        outcome.interrupted |= _open(messages)
        if keep_views:
            outcome.views.append(prepared.all_messages())
    return outcome


@cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a loop that is kept: starting one costs more than the pipeline."""
    return _loop().run_until_complete(coroutine)


def _judge(
    history: History,
    messages: list[BaseMessage],
    policy: ContextPolicy,
    prepared: Prepared,
    *,
    stored: dict[str, str],
    outcome: Outcome,
) -> None:
    sent = prepared.all_messages()
    tokens = count_messages_tokens(sent) + history.tool_tokens
    if tokens > policy.window - policy.reserve:
        outcome.over.append(f"{tokens} of {policy.window - policy.reserve}")
    if tokens != prepared.report.counted:
        outcome.broken.append(f"counted {prepared.report.counted}, has {tokens}")
    outcome.invalid.extend(refusals(sent))
    outcome.broken.extend(prepared.report.violations)
    if wrong := _lost_request(history, messages, policy, sent, stored):
        outcome.lost_requests.append(wrong)
    outcome.lost_media.extend(_lost_media(messages, sent, stored, outcome.interrupted))
    system = str(sent[0].content) if isinstance(sent[0], SystemMessage) else ""
    said = "\n".join(str(m.content) for m in messages if isinstance(m, HumanMessage))
    outcome.lost_constraints.extend(c for c in history.constraints if c in said and c not in system)
    for message in sent:
        for handle in handles_in(str(message.content)):
            if handle not in stored and handle not in said:
                outcome.broken.append(f"{handle} cannot be read")


def _lost_request(
    history: History,
    messages: list[BaseMessage],
    policy: ContextPolicy,
    sent: list[BaseMessage],
    stored: dict[str, str],
) -> str | None:
    said = [m for m in messages if isinstance(m, HumanMessage) and _words(m).strip()]
    if not said:
        return None
    active, words = said[-1], _words(said[-1])
    shown = [_words(m) for m in sent if isinstance(m, HumanMessage)]
    if words in shown:
        return None
    system = count_messages_tokens(sent[:1] if isinstance(sent[0], SystemMessage) else [])
    own = count_messages_tokens([history.system] if history.system else [])
    pinned = [text for text in history.constraints if any(text in _words(m) for m in said)]
    fixed = own + (_pinned_tokens(pinned) if pinned else 0)
    room = policy.input_budget - history.tool_tokens - min(system, fixed)
    if count_message_tokens(active) <= room * policy.active_share:
        return f"{words[:60]!r} of {count_message_tokens(active)} tokens is not in view"
    parts = [text for text in shown if any(stored.get(h) is not None for h in handles_in(text))]
    return None if parts else f"{words[:60]!r} is neither in view nor behind a handle"


def _lost_media(
    messages: list[BaseMessage], sent: list[BaseMessage], stored: dict[str, str], interrupted: set[str]
) -> list[str]:
    """Pictures and documents that are neither in the request nor whole in the store."""
    asked = [m for m in messages if not isinstance(m, ToolMessage) or m.tool_call_id not in interrupted]
    given = [_bytes(block) for block in _blocks(_answering(asked))]
    there = {_bytes(block) for block in _blocks(sent)}
    kept = "\n".join(stored.values())
    return [
        f"a file of {len(one)} characters" for one in given if one and one not in there and one not in kept
    ]


def _open(messages: Sequence[BaseMessage]) -> set[str]:
    """The calls that have no result."""
    called = {str(call["id"]) for m in messages if isinstance(m, AIMessage) for call in m.tool_calls}
    return called - {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}


def _answering(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages without results that repair leaves out: those before their call, and second ones."""
    called, kept = set[str](), list[BaseMessage]()
    for message in messages:
        if isinstance(message, AIMessage):
            called |= {str(call["id"]) for call in message.tool_calls}
        if isinstance(message, ToolMessage):
            if message.tool_call_id not in called:
                continue
            called.remove(message.tool_call_id)
        kept.append(message)
    return kept


def _blocks(messages: Sequence[BaseMessage]) -> list[Any]:
    """The content blocks of people and tools."""
    return [
        block
        for message in messages
        if isinstance(message, HumanMessage | ToolMessage) and isinstance(message.content, list)
        for block in message.content
    ]


def _bytes(block: Any) -> str:
    """The longest run of base64 in a block that is no text: a picture or document."""
    if not isinstance(block, dict) or block.get("type") in {"text", "tool_use"}:
        return ""
    return max(re.findall(r"[A-Za-z0-9+/=]{16,}", json.dumps(block)), key=len, default="")


def _own(history: History) -> int:
    return count_message_tokens(history.system) if history.system else 0


def _must_refuse(history: History, policy: ContextPolicy) -> bool:
    system = [m for m in [history.system, *history.messages] if isinstance(m, SystemMessage)]
    fixed = sum(map(count_message_tokens, system)) + history.tool_tokens
    return fixed + _pinned_tokens(history.constraints) > policy.input_budget - SMALLEST


def _pinned_tokens(constraints: Sequence[str]) -> int:
    """What the constraints and the line above them cost, some tokens more or less."""
    return sum(count_message_tokens(HumanMessage(text)) for text in constraints) + 20


def _words(message: BaseMessage) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    return "".join(b if isinstance(b, str) else str(b.get("text", "")) for b in content if not _blank(b))


def _blank(block: object) -> bool:
    text = block if isinstance(block, str) else block.get("text", "") if isinstance(block, dict) else ""
    return not str(text).strip()
