"""The state of one turn as it is shown: events go in, a tree and an answer come out. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from multi_agents.cli.console import one_line
from multi_agents.cli.peer.events import (
    WAITING_STATES,
    ActivitySeen,
    ContextSeen,
    ErrorSeen,
    MessageSeen,
    NextSeen,
    PeerEvent,
    PlanSeen,
    StatusSeen,
    TaskSeen,
    TextSeen,
    UsageSeen,
)
from utils.a2a_common.protocol.extensions import RESPONSE_ARTIFACT, parse_activity, parse_context
from utils.context.announce import line
from utils.events import (
    ContextCompacted,
    ContextMeasured,
    DelegationFinished,
    DelegationProgress,
    DelegationStarted,
    ModelRetried,
    PlanStep,
    ToolFinished,
    ToolStarted,
    ToolStatus,
)


@dataclass(slots=True)
class Node:
    """One tool call, delegation or note of the tree."""

    key: str
    label: str
    detail: str = ""
    status: str = "working"
    seconds: float | None = None
    children: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class TurnView:
    """Everything that is known of one turn."""

    task_id: str = ""
    context_id: str = ""
    state: str = ""
    status_text: str = ""
    asker: str = ""
    plan: Sequence[PlanStep] = ()
    nodes: list[Node] = field(default_factory=list)
    artifacts: dict[str, tuple[str, str]] = field(default_factory=dict)
    message: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    context: ContextMeasured | None = None
    next: Sequence[str] = ()
    error: ErrorSeen | None = None

    def apply(self, event: PeerEvent) -> None:
        """Take in one event."""
        match event:
            case TaskSeen():
                self._place(event.task_id, event.context_id, event.state)
            case StatusSeen():
                self._place(event.task_id, event.context_id, event.state)
                self.status_text = event.message or self.status_text
                self.asker = event.origin
            case TextSeen():
                before = self.artifacts.get(event.artifact_id, ("", ""))[1] if event.append else ""
                self.artifacts[event.artifact_id] = (event.name, before + event.text)
            case PlanSeen():
                self.plan = event.steps
            case ActivitySeen():
                add_activity(self.nodes, event.activity)
            case UsageSeen():
                self.usage = event.usage
            case ContextSeen():
                self.context = parse_context(event.context) or self.context
            case NextSeen():
                self.next = event.requests
            case ErrorSeen():
                self.error = event
            case MessageSeen():
                self.message, self.state = event.text, "completed"
                self.context_id = event.context_id or self.context_id

    def _place(self, task_id: str, context_id: str, state: str) -> None:
        self.task_id, self.context_id = task_id or self.task_id, context_id or self.context_id
        self.state = state

    @property
    def waits(self) -> bool:
        """Whether the task waits for the user's answer."""
        return self.state in WAITING_STATES

    @property
    def answer(self) -> str:
        """The answer: the `response` artifact of our agents; a foreign agent's artifacts, message or status."""
        own = [text for key, (name, text) in self.artifacts.items() if _is_response(key, name)]
        if any(own):
            return "\n\n".join(text for text in own if text)
        if self.message:
            return self.message
        return _foreign(list(self.artifacts.values())) or self._status_answer()

    @property
    def question(self) -> str:
        """What the agent waits for, with the agent that asks where it is another one."""
        text = self.status_text or "The agent waits for your answer."
        return f"{one_line(self.asker)} asks: {text}" if self.asker else text

    def _status_answer(self) -> str:
        return self.status_text if self.state == "completed" else ""

    @property
    def shortcoming(self) -> ErrorSeen | None:
        """Why the answer is only a part of what it should be, where it is."""
        return self.error if self.state == "completed" else None

    @property
    def failure(self) -> str:
        """The sentence that says why there is no answer; empty when nothing failed."""
        if self.state not in {"failed", "rejected"}:
            return ""
        told = (self.error.message if self.error else "") or self.status_text
        return told or f"The agent ended the task as {self.state} and gave no reason."


def add_activity(nodes: list[Node], payload: Mapping[str, Any]) -> None:
    """Put one activity into the tree; activity of a sub-agent goes below its delegation."""
    match parse_activity(payload):
        case ToolStarted() as event:
            node = _node(nodes, event.call_id, event.tool)
            node.detail, node.status = event.arguments, "working"
        case ToolFinished() as event:
            node = _node(nodes, event.call_id, event.tool)
            node.status = "completed" if event.status is ToolStatus.OK else event.status.value
            node.seconds = event.seconds
        case DelegationStarted() as event:
            node = _node(nodes, event.call_id, event.agent)
            node.detail, node.status = event.request, "working"
        case DelegationProgress() as event:
            node = _node(nodes, event.call_id, event.agent)
            node.status = event.state.value
            node.seconds = event.seconds if event.seconds is not None else node.seconds
            if isinstance(event.activity, Mapping):
                add_activity(node.children, event.activity)
        case DelegationFinished() as event:
            node = _node(nodes, event.call_id, event.agent)
            node.status, node.seconds = event.state.value, event.seconds
        case ContextCompacted() as event:
            label = line(
                event.strategy, event.tokens_before, event.tokens_after, event.limit or 1, int(event.touched)
            )
            nodes.append(Node("", label, status="completed"))
        case ModelRetried() as event:
            nodes.append(Node("", _retry_label(event), detail=event.reason, status="completed"))
        case None:
            return


def _retry_label(event: ModelRetried) -> str:
    if event.fallback:
        return "the model does not answer; asking the fallback model"
    wait = f" in {event.seconds:.0f} s" if event.seconds >= 1 else ""
    return f"asking the model again{wait}"


def _node(nodes: list[Node], key: str, label: str) -> Node:
    """The node of a call. A delegation is a tool call too: the later word (the agent's name) wins."""
    for node in nodes:
        if node.key == key:
            node.label = label
            return node
    nodes.append(Node(key, label))
    return nodes[-1]


def _is_response(artifact_id: str, name: str) -> bool:
    return name == RESPONSE_ARTIFACT or artifact_id.startswith(RESPONSE_ARTIFACT)


def _foreign(artifacts: Sequence[tuple[str, str]]) -> str:
    shown = [(name, text) for name, text in artifacts if text]
    if len(shown) == 1:
        return shown[0][1]
    return "\n\n".join(f"### {name}\n\n{text}" if name else text for name, text in shown)
