"""What an agent does with one message, dealt by lot: the message itself says it, so that any process can run it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass

from a2a.types.a2a_pb2 import (
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)

from benchmarks.simulate.house_script import HouseScript

ENDINGS = ("done", "done", "done", "done", "ask", "ask", "fail", "raise", "silent", "reject", "message")
QUIET = {"silent", "raise"}

State = TaskState
_STATES = {
    "done": State.TASK_STATE_COMPLETED,
    "ask": State.TASK_STATE_INPUT_REQUIRED,
    "fail": State.TASK_STATE_FAILED,
    "reject": State.TASK_STATE_REJECTED,
}


@dataclass(frozen=True, slots=True)
class Step:
    """Seconds to wait, and then a piece of text for an artifact; or no text, which is a change of status."""

    wait: float
    artifact: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Script:
    """What an agent does: its steps, how it ends, and how many events it sends after its end."""

    steps: tuple[Step, ...]
    ending: str
    late: int = 0

    def encode(self) -> str:
        """As the text of a message."""
        steps = [[step.wait, step.artifact, step.text] for step in self.steps]
        return json.dumps({"steps": steps, "ending": self.ending, "late": self.late})

    @classmethod
    def decode(cls, text: str) -> Script:
        """From the text of a message."""
        found = json.loads(text)
        return cls(tuple(Step(*each) for each in found["steps"]), found["ending"], found["late"])

    def artifacts(self, message: str) -> dict[str, str]:
        """The texts of a whole answer, by artifact."""
        texts: dict[str, str] = {}
        if self.ending == "message":
            return texts
        for step in self.steps:
            if step.text:
                name = artifact_name(message, step.artifact)
                texts[name] = texts.get(name, "") + step.text
        return texts


def artifact_name(message: str, number: int) -> str:
    """The id of an artifact of the answer to a message."""
    return f"{message}.{number}"


def deal(lots: random.Random, *, endings: tuple[str, ...] = ENDINGS) -> Script:
    """A script by lot."""
    pace = lots.choice((0.0, 0.0, 0.01, 0.3, 2.0))
    steps = []
    for number in range(lots.choice((0, 1, 2, 5, 12, 30))):
        kind = lots.random()
        text = "" if kind < 0.1 else f"{number}{'abcdefgh'[number % 8] * lots.choice((1, 1, 3, 40, 700))};"
        wait = pace * lots.random() if lots.random() < 0.5 else 0.0
        steps.append(Step(wait, lots.choice((0, 0, 0, 1)), text))
    return Script(tuple(steps), lots.choice(endings), lots.choice((0, 0, 0, 2)))


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids of a turn."""

    task: str
    context: str
    message: str


def task_of(ids: Ids, message: Message) -> Task:
    """The task that a turn begins with."""
    return Task(
        id=ids.task, context_id=ids.context, status=_status(State.TASK_STATE_SUBMITTED), history=[message]
    )


def status_of(ids: Ids, state: TaskState, text: str = "") -> TaskStatusUpdateEvent:
    """A change of state."""
    event = TaskStatusUpdateEvent(task_id=ids.task, context_id=ids.context, status=_status(state))
    if text:
        event.status.message.CopyFrom(_said(ids, text))
    return event


def chunks(
    script: Script, ids: Ids
) -> Iterator[tuple[Step, TaskArtifactUpdateEvent | TaskStatusUpdateEvent]]:
    """The steps of a script with their events; each artifact begins with `append=false`."""
    begun: set[int] = set()
    for step in script.steps:
        if not step.text:
            yield step, status_of(ids, State.TASK_STATE_WORKING)
            continue
        artifact = Artifact(
            artifact_id=artifact_name(ids.message, step.artifact), parts=[Part(text=step.text)]
        )
        append = step.artifact in begun
        begun.add(step.artifact)
        yield (
            step,
            TaskArtifactUpdateEvent(
                task_id=ids.task, context_id=ids.context, artifact=artifact, append=append
            ),
        )


def ending_of(script: Script, ids: Ids) -> TaskStatusUpdateEvent | Message | None:
    """The event that ends the turn; `None` where the agent ends without one."""
    if script.ending == "message":
        return _said(ids, "answer")
    if script.ending in QUIET:
        return None
    return status_of(ids, _STATES[script.ending], "question" if script.ending == "ask" else "")


def late(script: Script, ids: Ids) -> list[TaskStatusUpdateEvent | TaskArtifactUpdateEvent]:
    """What the agent sends after its end, which nobody may see."""
    artifact = Artifact(artifact_id=artifact_name(ids.message, 0), parts=[Part(text="late")])
    events: list[TaskStatusUpdateEvent | TaskArtifactUpdateEvent] = [
        TaskArtifactUpdateEvent(task_id=ids.task, context_id=ids.context, artifact=artifact, append=True),
        status_of(ids, State.TASK_STATE_FAILED),
    ]
    return [] if script.ending in QUIET else events[: script.late]


def user_message(ids: Ids, script: Script | HouseScript, *, task: str = "") -> Message:
    """The message of a user that asks for the script."""
    return Message(
        message_id=ids.message,
        role=Role.ROLE_USER,
        context_id=ids.context,
        task_id=task,
        parts=[Part(text=script.encode())],
    )


def _status(state: TaskState) -> TaskStatus:
    return TaskStatus(state=state)


def _said(ids: Ids, text: str) -> Message:
    return Message(
        message_id=f"{ids.message}-{text}",
        role=Role.ROLE_AGENT,
        task_id=ids.task,
        context_id=ids.context,
        parts=[Part(text=text)],
    )
