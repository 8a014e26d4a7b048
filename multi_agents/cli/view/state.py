"""The state of one turn as it is shown: events go in, a tree and an answer come out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from multi_agents.cli.console import one_line
from multi_agents.cli.view.parts import artifact_text, message_text
from utils.a2a_common.client.events import ActivityReported, AgentAway, PeerEvent
from utils.a2a_common.client.task_view import TaskView
from utils.a2a_common.protocol.extensions import RESPONSE_ARTIFACT, TaskError, parse_activity
from utils.context.announce import line
from utils.events import (
    Activity,
    ContextCompacted,
    DelegationFinished,
    DelegationProgress,
    DelegationStarted,
    DelegationState,
    ModelRetried,
    PlanStep,
    ToolFinished,
    ToolStarted,
    ToolStatus,
)

AWAY = "away"
"""Key of the note that the agent is waited for."""


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
    """Everything that is known of one turn: its task, and the tree of tools and delegations."""

    task: TaskView = field(default_factory=TaskView)
    nodes: list[Node] = field(default_factory=list)

    def apply(self, event: PeerEvent) -> None:
        """Take in one event."""
        self.task.apply(event)
        if isinstance(event, ActivityReported):
            add_activity(self.nodes, event.activity)
        elif isinstance(event, AgentAway):
            _node(self.nodes, AWAY, away_line(event)).status = "completed"

    @property
    def state(self) -> str:
        """The task's state; empty before the agent answered."""
        return self.task.state.value if self.task.heard else ""

    @property
    def status_text(self) -> str:
        """The newest status message."""
        return message_text(self.task.status)

    @property
    def waits(self) -> bool:
        """Whether the task waits for the user's answer."""
        return self.task.waits

    @property
    def steps(self) -> Sequence[PlanStep]:
        """The plan as it stands."""
        return self.task.plan.steps if self.task.plan else ()

    @property
    def suggestions(self) -> Sequence[str]:
        """What may be asked next."""
        return self.task.suggestions.requests if self.task.suggestions else ()

    @property
    def answer(self) -> str:
        """The answer: the `response` artifact of our agents; a foreign agent's artifacts, message or status."""
        texts = [(key, one.name, artifact_text(one.parts)) for key, one in self.task.artifacts.items()]
        own = [text for key, name, text in texts if text and _is_response(key, name)]
        if own:
            return "\n\n".join(own)
        if self.task.message:
            return message_text(self.task.message)
        return _foreign([(name, text) for _, name, text in texts]) or self._status_answer()

    @property
    def question(self) -> str:
        """What the agent waits for, with the agent that asks where it is another one."""
        text = self.status_text or "The agent waits for your answer."
        return f"{one_line(self.task.origin)} asks: {text}" if self.task.origin else text

    def _status_answer(self) -> str:
        return self.status_text if self.task.state is DelegationState.COMPLETED else ""

    @property
    def shortcoming(self) -> TaskError | None:
        """Why the answer is only a part of what it should be, where it is."""
        return self.task.error if self.task.state is DelegationState.COMPLETED else None

    @property
    def failure(self) -> str:
        """The sentence that says why there is no answer; empty when nothing failed."""
        if self.task.state not in (DelegationState.FAILED, DelegationState.REJECTED):
            return ""
        told = (self.task.error.message if self.task.error else "") or self.status_text
        return told or f"The agent ended the task as {self.state} and gave no reason."


def away_line(event: AgentAway) -> str:
    """What a person reads while the agent is waited for."""
    if event.busy:
        return "the agent is busy; the request is sent again by itself"
    return "the agent cannot be reached; its task is looked for until it is back"


def add_activity(nodes: list[Node], activity: Activity) -> None:
    """Put one activity into the tree; activity of a sub-agent goes below its delegation."""
    match activity:
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
            node.status = event.waiting or event.state.value
            node.seconds = event.seconds if event.seconds is not None else node.seconds
            below = parse_activity(event.activity) if event.activity is not None else None
            if below is not None:
                add_activity(node.children, below)
        case DelegationFinished() as event:
            node = _node(nodes, event.call_id, event.agent)
            node.status, node.seconds = event.state.value, event.seconds
        case ContextCompacted() as event:
            label = line(
                event.strategy, event.tokens_before, event.tokens_after, event.limit or 1, event.touched
            )
            nodes.append(Node("", label, status="completed"))
        case ModelRetried() as event:
            nodes.append(Node("", _retry_label(event), detail=event.reason, status="completed"))
        case _:
            assert_never(activity)


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
