"""The invariants of every model request: named rules, each with the provider rule behind it.

An `Invariant` is a value with a check, used by the tests and by the pipeline's last stage. A check
returns a sentence about what is wrong, or `None`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from utils.messages.handles import handles_in
from utils.messages.text import message_text
from utils.messages.transcript import active_index, position_of, split_system


@dataclass(frozen=True, slots=True)
class Claim:
    """A request with what the invariants compare it to.

    Attributes:
        view: The messages as sent, system message first.
        source: The repaired conversation that the request was made from.
        pinned: Constraints of the user that the request must contain verbatim.
        handles: Handles that can be read back.
        may_clip_active: Whether the active request is so large that it may be clipped to head, tail and
            handle.
        tokens: Tokens of the request with its tools.
        budget: Most tokens that it may have.
        before: The request before this one, if nothing was compacted in between.
    """

    view: Sequence[BaseMessage]
    source: Sequence[BaseMessage] = ()
    pinned: Sequence[str] = ()
    handles: Container[str] = field(default_factory=frozenset)
    may_clip_active: bool = False
    tokens: int = 0
    budget: int = 0
    before: Sequence[BaseMessage] | None = None


@dataclass(frozen=True, slots=True)
class Invariant:
    """A rule with its name, its reason, and its check."""

    name: str
    rule: str
    check: Callable[[Claim], str | None]


def violations(claim: Claim, invariants: Sequence[Invariant]) -> list[str]:
    """The violations, as "name: what is wrong"."""
    found = ((invariant.name, invariant.check(claim)) for invariant in invariants)
    return [f"{name}: {wrong}" for name, wrong in found if wrong is not None]


def _pairing(claim: Claim) -> str | None:
    calls = [str(c["id"]) for m in claim.view if isinstance(m, AIMessage) for c in m.tool_calls]
    results = [message.tool_call_id for message in claim.view if isinstance(message, ToolMessage)]
    if len(set(calls)) != len(calls):
        return "a call id is used twice"
    if len(set(results)) != len(results):
        return "a call has two results"
    if missing := set(calls) - set(results):
        return f"calls without a result: {sorted(missing)}"
    if stray := set(results) - set(calls):
        return f"results without a call: {sorted(stray)}"
    return None


def _adjacency(claim: Claim) -> str | None:
    expected: list[str] = []
    for message in claim.view:
        if isinstance(message, ToolMessage):
            if not expected or expected.pop(0) != message.tool_call_id:
                return f"the result of {message.tool_call_id} does not follow its call"
            continue
        if expected:
            return f"a message stands before the result of {expected[0]}"
        if isinstance(message, AIMessage):
            expected = [str(call["id"]) for call in message.tool_calls]
    return f"the result of {expected[0]} is missing at the end" if expected else None


def _single_system(claim: Claim) -> str | None:
    places = [index for index, message in enumerate(claim.view) if isinstance(message, SystemMessage)]
    return None if places in ([], [0]) else f"system messages at {places}"


def _user_first(claim: Claim) -> str | None:
    _, history = split_system(claim.view)
    if not history:
        return "there is no message besides the system message"
    if not isinstance(history[0], HumanMessage):
        return f"a message of type {history[0].type} comes first"
    return "the model would speak twice in a row" if isinstance(history[-1], AIMessage) else None


def _active_kept(claim: Claim) -> str | None:
    index = active_index(claim.source)
    if index is None:
        return None
    active = claim.source[index]
    place = position_of(claim.view, active.id)
    if place is None:
        return "the active request is not in view"
    shown = claim.view[place]
    if place != active_index(claim.view):
        return "another message of the user comes after the active request"
    if shown.content == active.content:
        return None
    if claim.may_clip_active and handles_in(message_text(shown)):
        return None
    return "the active request was changed"


def _pinned_kept(claim: Claim) -> str | None:
    system, _ = split_system(claim.view)
    shown = "\n".join(message_text(message) for message in system)
    lost = [text for text in claim.pinned if text not in shown]
    return f"{len(lost)} pinned constraints are not in the system message" if lost else None


def _names_kept(claim: Claim) -> str | None:
    names = {str(c["id"]): c["name"] for m in claim.source if isinstance(m, AIMessage) for c in m.tool_calls}
    for message in claim.view:
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            if names.get(str(call["id"])) != call["name"]:
                return f"call {call['id']} is named {call['name']}"
    return None


def _handles_resolve(claim: Claim) -> str | None:
    named = {handle for message in claim.view for handle in handles_in(message_text(message))}
    lost = {handle for handle in named if handle not in claim.handles}
    if lost:
        lost -= {handle for message in claim.source for handle in handles_in(message_text(message))}
    return f"handles that cannot be read: {sorted(lost)}" if lost else None


def _budget_met(claim: Claim) -> str | None:
    if claim.tokens <= claim.budget:
        return None
    return f"{claim.tokens} tokens where {claim.budget} are allowed"


def _prefix_extends(claim: Claim) -> str | None:
    if claim.before is None:
        return None
    for index, (old, new) in enumerate(zip(claim.before, claim.view, strict=False)):
        if (old.type, old.content) != (new.type, new.content):
            return f"message {index} changed"
    return "the request became shorter" if len(claim.view) < len(claim.before) else None


PAIRING = Invariant(
    "pairing",
    "OpenAI: 'tool_call_ids did not have response messages'; Anthropic: '`tool_use` ids were found without "
    "`tool_result` blocks', ids must be unique; Bedrock: 'Expected toolResult blocks for the following Ids'.",
    _pairing,
)
ADJACENCY = Invariant(
    "adjacency",
    "OpenAI: tool messages must directly follow the message with their calls; Anthropic and Bedrock: the "
    "results stand in the next user turn.",
    _adjacency,
)
SINGLE_SYSTEM = Invariant(
    "single leading system message",
    "Anthropic and Bedrock take system text beside the messages; chat templates of open models refuse a "
    "system message that is not the first.",
    _single_system,
)
USER_FIRST = Invariant(
    "user first",
    "Bedrock: 'A conversation must start with a user message'; no provider accepts an empty conversation; "
    "Claude: 'does not support assistant message prefill'.",
    _user_first,
)
ACTIVE_KEPT = Invariant(
    "active request kept", "Ours: the model must see the request that it answers.", _active_kept
)
PINNED_KEPT = Invariant(
    "pinned constraints verbatim",
    "Ours: a paraphrase can change the meaning of a prohibition.",
    _pinned_kept,
)
NAMES_KEPT = Invariant(
    "tool names kept",
    "Bedrock and Anthropic check names against the tools; a model repeats the names that it reads.",
    _names_kept,
)
HANDLES_RESOLVE = Invariant(
    "handles resolvable", "Ours: the model must be able to read every handle that it sees.", _handles_resolve
)
BUDGET_MET = Invariant(
    "budget met",
    "OpenAI: 'context_length_exceeded'; Anthropic: 'prompt is too long'; Bedrock: 'Input is too long for "
    "requested model'.",
    _budget_met,
)
PREFIX_EXTENDS = Invariant(
    "prefix extends",
    "Prompt caches of OpenAI, Anthropic and Bedrock match on an unchanged beginning.",
    _prefix_extends,
)

INVARIANTS = (
    PAIRING,
    ADJACENCY,
    SINGLE_SYSTEM,
    USER_FIRST,
    ACTIVE_KEPT,
    PINNED_KEPT,
    NAMES_KEPT,
    HANDLES_RESOLVE,
    BUDGET_MET,
    PREFIX_EXTENDS,
)
"""All invariants."""

SHAPE = (PAIRING, ADJACENCY, SINGLE_SYSTEM, USER_FIRST)
"""The invariants that concern a request alone, whatever it was made from."""
