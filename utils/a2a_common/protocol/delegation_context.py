"""`DelegationContext`: the context that a delegating agent sends with a sub-task.

It never contains the parent's messages: no prompts, tool calls or tool results. It is a data part of the A2A message,
under the URI of the scope extension. What arrives is untrusted: it is parsed leniently and its lengths are capped.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from utils.a2a_common.protocol.delegation_chain import Hop, parse_trail, without_digests
from utils.a2a_common.protocol.extensions import SCOPE_EXTENSION
from utils.a2a_common.protocol.media_modes import JSON
from utils.a2a_common.protocol.shares import Shares
from utils.resilience.budget import Budget

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import AgentCard

_LONGEST_TEXT = 8_000
_LONGEST_RESULT = 3_000
_LONGEST_REMARK = 200
_MOST_ENTRIES = 20
_REFERENCE_CHARACTERS = 32


@dataclass(frozen=True, slots=True)
class PreviousResult:
    """What an agent returned earlier in the conversation.

    Attributes:
        task: The request to it.
        result: Its answer, cut to 3,000 characters.
        timestamp: Seconds since 1970 at which it answered; 0 where that is not known.
        agent: Who answered.
    """

    task: str
    result: str
    timestamp: float = 0.0
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """An earlier message of the user or the parent.

    Attributes:
        role: user or assistant.
        content: The text, cut to 200 characters.
        timestamp: Its time in seconds since 1970; 0 if unknown.
    """

    role: str
    content: str
    timestamp: float = 0.0


@dataclass(frozen=True, slots=True)
class DelegationContext:
    """The scoped context of one delegated sub-task.

    Attributes:
        original_request: The user's request to the parent.
        subtask_index: Position of this sub-task, from 1.
        total_subtasks: How many the parent delegated together.
        parent_task_id: `reference_of` the parent's task: identifies a task without giving access to it.
        deadline_seconds: Seconds that the parent waits for this task, where it has a limit.
        previous_results: What other sub-tasks of the conversation returned, oldest first.
        conversation_history: The last turns as the user saw them, oldest first.
        user: The parent's caller: `name` and `tenant`, where known. A statement, not a credential.
        budget: What this task may use.
        trail: The agents that the request came through, the user's first, the parent last.
    """

    original_request: str
    subtask_index: int
    total_subtasks: int
    parent_task_id: str
    deadline_seconds: float | None = None
    previous_results: Sequence[PreviousResult] = ()
    conversation_history: Sequence[Remark] = ()
    user: Mapping[str, str] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    trail: Sequence[Hop] = ()

    def within(self, shares: Shares, subtask: str, known: str) -> DelegationContext:
        """The part of the context that may be sent to an agent.

        Args:
            shares: How much that is.
            subtask: The request to the agent, which it reads anyway.
            known: Digest of the hop of a request with the text of `subtask`.
        """
        if shares is Shares.RESULTS:
            return self
        less = replace(self, previous_results=(), conversation_history=(), user={})
        if shares is Shares.REQUEST:
            return less
        return replace(less, original_request=subtask, trail=without_digests(self.trail, known))

    def without_others(self, same: Container[str], own: Callable[[str], bool]) -> DelegationContext:
        """The part of the context that a foreign agent may receive: no text from another foreign agent, not even rephrased.

        Args:
            same: Names of the agent itself.
            own: Whether an agent is one of ours.
        """
        results = [each for each in self.previous_results if each.agent in same or own(each.agent)]
        if len(results) == len(self.previous_results):
            return self
        remarks = [remark for remark in self.conversation_history if remark.role == "user"]
        return replace(self, previous_results=results, conversation_history=remarks)

    def to_payload(self) -> dict[str, Any]:
        """The data part that carries this context."""
        fields = {name: value for name, value in asdict(self).items() if value is not None}
        fields["previous_results"] = [asdict(result) for result in self.previous_results]
        fields["conversation_history"] = [asdict(remark) for remark in self.conversation_history]
        fields["trail"] = [asdict(each) for each in self.trail]
        fields["user"] = dict(self.user)
        fields["budget"] = self.budget.to_payload()
        if self.deadline_seconds == math.inf:
            del fields["deadline_seconds"]
        fields["current_subtask_index"] = self.subtask_index
        return {SCOPE_EXTENSION: fields}


def reference_of(task_id: str) -> str:
    """A one-way reference to a task, for other agents: the same on every replica and after a restart.

    The id itself is not sent, because the id of a task may be enough to read the task and to answer its question.
    """
    return hashlib.sha256(f"delegated by {task_id}".encode()).hexdigest()[:_REFERENCE_CHARACTERS]


def takes_delegation_context(card: AgentCard, shares: Shares) -> bool:
    """Whether an agent gets a context: its card declares the extension, or its share is not empty and it accepts JSON."""
    declared = any(extension.uri == SCOPE_EXTENSION for extension in card.capabilities.extensions)
    return declared or (shares is not Shares.NOTHING and JSON in card.default_input_modes)


def find_delegation_context(data: Sequence[Mapping[str, Any]]) -> DelegationContext | None:
    """The delegation context among a message's data parts, or `None` for a request that was not delegated."""
    for part in data:
        payload = part.get(SCOPE_EXTENSION)
        if isinstance(payload, Mapping):
            return _parse(payload)
    return None


def _parse(payload: Mapping[str, Any]) -> DelegationContext | None:
    try:
        deadline = payload.get("deadline_seconds")
        return DelegationContext(
            original_request=str(payload["original_request"])[:_LONGEST_TEXT],
            subtask_index=int(payload["subtask_index"]),
            total_subtasks=int(payload["total_subtasks"]),
            parent_task_id=str(payload["parent_task_id"])[:256],
            deadline_seconds=None if deadline is None else float(deadline),
            previous_results=[_result(each) for each in _entries(payload, "previous_results")],
            conversation_history=[_remark(each) for each in _entries(payload, "conversation_history")],
            user=_user(payload.get("user")),
            budget=Budget.parse(payload.get("budget")),
            trail=parse_trail(payload.get("trail")),
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _entries(payload: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = payload.get(name)
    entries = value if isinstance(value, list | tuple) else []
    return [each for each in entries if isinstance(each, Mapping)][-_MOST_ENTRIES:]


def _result(entry: Mapping[str, Any]) -> PreviousResult:
    return PreviousResult(
        task=str(entry.get("task", ""))[:_LONGEST_RESULT],
        result=str(entry.get("result", ""))[:_LONGEST_RESULT],
        timestamp=float(entry.get("timestamp") or 0.0),
        agent=str(entry.get("agent", ""))[:_LONGEST_REMARK],
    )


def _remark(entry: Mapping[str, Any]) -> Remark:
    role = "assistant" if entry.get("role") == "assistant" else "user"
    return Remark(role, str(entry.get("content", ""))[:_LONGEST_REMARK], float(entry.get("timestamp") or 0.0))


def _user(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {name: str(value[name])[:_LONGEST_REMARK] for name in ("name", "tenant") if value.get(name)}
