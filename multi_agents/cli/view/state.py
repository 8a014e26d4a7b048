"""The state of one turn as it is shown: events go in, a tree and an answer come out. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from multi_agents.cli.console import one_line
from multi_agents.cli.view.parts import artifact_text, message_text
from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.client.stream.events import ActivityReported, AgentAway, PeerEvent
from utils.a2a_common.protocol.extensions import NOTICE_ARTIFACT, RESPONSE_ARTIFACT, TaskError, parse_activity
from utils.context.announce import line
from utils.events import (
    Activity,
    ContentPart,
    ContextCompacted,
    DataPart,
    DelegationFinished,
    DelegationProgress,
    DelegationStarted,
    DelegationState,
    ModelReasoned,
    ModelRetried,
    ModelWaited,
    PlanStep,
    RuleChange,
    RuleChanged,
    TextPart,
    ToolFinished,
    ToolStarted,
    ToolStatus,
)

_OPEN = ("pending", "submitted", "working")

AWAY = "away"
"""Key of the note that the agent is waited for."""

WAITED = "model waited"
"""Key of the note that the model is waited for; there is one, with the newest seconds."""

REASONED = "model reasoned"
"""Key of the note with the newest of the model's reasoning."""

NOTES = frozenset({"", AWAY, WAITED, REASONED})
"""Keys of what is no call: it has no status that is worth showing."""

_LONGEST_THOUGHT = 100


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
    """Everything that is known of one turn: its task, and the tree of tools and delegations.

    `stopped` tells that the person stopped it, and `ours` that the agent is one of this project, whose answer is one artifact.
    `patience` is how many seconds the agent may say nothing; `None` for no limit.
    """

    task: TaskView = field(default_factory=TaskView)
    nodes: list[Node] = field(default_factory=list)
    stopped: bool = False
    ours: bool = True
    patience: float | None = None

    def apply(self, event: PeerEvent) -> None:
        """Take in one event."""
        self.task.apply(event)
        if isinstance(event, AgentAway):
            _node(self.nodes, AWAY, away_line(event)).status = "working"
            return
        for node in self.nodes:
            if node.key == AWAY:
                node.status = "completed"  # it is heard again
        if isinstance(event, ActivityReported):
            add_activity(self.nodes, event.activity)

    def shown_status(self, status: str) -> str:
        """The status of a node or a step as it is drawn: nothing works any more once the turn was stopped."""
        ended = self.stopped or self.task.state is DelegationState.CANCELED
        return DelegationState.CANCELED.value if ended and status in _OPEN else status

    @property
    def state(self) -> DelegationState | None:
        """The task's state; `None` before the agent answered."""
        return self.task.state if self.task.received else None

    @property
    def status_text(self) -> str:
        """The newest status message; for a question that also carries a form or structured data, only its text."""
        parts, passed_on = self.task.status, bool(self.task.origin)
        if any(isinstance(part, TextPart) for part in parts):
            parts = [
                part for part in parts if not (_is_form(part) or (passed_on and isinstance(part, DataPart)))
            ]
        return message_text(parts)

    @property
    def waits(self) -> bool:
        """Whether the task waits for the user's answer."""
        return self.task.waits

    @property
    def works(self) -> bool:
        """Whether the task has neither ended nor waits: what is known of it may grow. A plain message has no task."""
        return bool(self.task.task_id) and self.task.received and self.task.open

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
        texts = [
            (key, one.name, artifact_text(one.parts))
            for key, one in self.task.artifacts.items()
            if one.name != NOTICE_ARTIFACT
        ]
        own = [text for key, name, text in texts if text and _is_response(key, name)]
        if own and self.ours:
            return "\n\n".join(own)
        if self.task.message:
            return message_text(self.task.message)
        named = [
            (one.name, _words(one.parts))
            for one in self.task.artifacts.values()
            if one.name != NOTICE_ARTIFACT
        ]
        return _foreign(named) or _foreign([(name, text) for _, name, text in texts]) or self._status_answer()

    @property
    def notice(self) -> str:
        """The agent's notices beside the answer, each shown once."""
        notices = (one for one in self.task.artifacts.values() if one.name == NOTICE_ARTIFACT)
        return "\n".join(artifact_text(one.parts) for one in notices)

    @property
    def question(self) -> str:
        """The agent's open question, with the agent that asks if it is another one."""
        text = self.status_text or "The agent waits for your answer."
        return f"{one_line(self.task.origin)} asks: {text}" if self.task.origin else text

    def _status_answer(self) -> str:
        return self.status_text if self.task.state is DelegationState.COMPLETED else ""

    @property
    def shortcoming(self) -> TaskError | None:
        """Why the answer is incomplete, if it is."""
        return self.task.error if self.task.state is DelegationState.COMPLETED else None

    @property
    def failure(self) -> str:
        """The sentence that says why there is no answer; empty when nothing failed."""
        if self.task.state not in (DelegationState.FAILED, DelegationState.REJECTED):
            return ""
        told = (self.task.error.message if self.task.error else "") or self.status_text
        return told or f"The agent ended the task as {self.state} and gave no reason."


def away_line(event: AgentAway) -> str:
    """The line that a person reads while the agent is waited for; short enough to be shown whole."""
    if event.busy:
        return "the agent is busy; the request is sent again by itself"
    return "the agent cannot be reached; waiting until it is back"


def silence_line(seconds: float, view: TurnView) -> str:
    """The line that a person reads while the agent says nothing; short enough to be shown whole."""
    passed = f"{seconds:.0f}" if view.patience is None else f"{seconds:.0f} of {view.patience:.0f}"
    if not view.task.received:
        return f"the agent has not answered for {passed} s; Ctrl-C stops waiting"
    return f"nothing new from the agent for {passed} s; Ctrl-C cancels the task"


_RULES = {
    RuleChange.PINNED: "rule noted",
    RuleChange.UNPINNED: "rule no longer holds",
    RuleChange.NOT_SHOWN: "rule kept behind a handle, for its size",
}


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
        case ModelWaited() as event:
            _node(nodes, WAITED, _wait_label(event)).status = "completed"
        case ModelReasoned(text=text):
            _node(nodes, REASONED, f"thinks: {_newest(text)}").status = "completed"
        case RuleChanged() as event:
            nodes.append(Node("", _RULES[event.change], detail=event.text, status="completed"))
        case _:
            assert_never(activity)


def _retry_label(event: ModelRetried) -> str:
    if event.fallback:
        return "the model does not answer; asking the fallback model"
    wait = f" in {event.seconds:.0f} s" if event.seconds >= 1 else ""
    return f"asking the model again{wait}"


def _wait_label(event: ModelWaited) -> str:
    what = "the rest of the model's answer" if event.begun else "the model"
    return f"waiting for {what} ({event.seconds:.0f} s so far)"


def _newest(thoughts: str) -> str:
    line = one_line(thoughts)
    return line if len(line) <= _LONGEST_THOUGHT else f"…{line[-_LONGEST_THOUGHT:]}"


def _node(nodes: list[Node], key: str, label: str) -> Node:
    """The node of a call. A delegation is a tool call too: the later word (the agent's name) wins."""
    for node in nodes:
        if node.key == key:
            node.label = label
            return node
    nodes.append(Node(key, label))
    return nodes[-1]


def _is_form(part: ContentPart) -> bool:
    return isinstance(part, DataPart) and isinstance(part.value, Mapping) and "form" in part.value


def _is_response(artifact_id: str, name: str) -> bool:
    return name == RESPONSE_ARTIFACT or artifact_id.startswith(RESPONSE_ARTIFACT)


def _words(parts: Sequence[ContentPart]) -> str:
    """What an artifact says itself: its files are listed apart, below the answer."""
    return artifact_text([part for part in parts if isinstance(part, TextPart | DataPart)])


def _foreign(artifacts: Sequence[tuple[str, str]]) -> str:
    shown = [(name, text) for name, text in artifacts if text]
    if len(shown) == 1:
        return shown[0][1]
    return "\n\n".join(f"### {name}\n\n{text}" if name else text for name, text in shown)
