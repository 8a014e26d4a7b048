"""Events for the tests of the task log."""

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

SUBMITTED, WORKING = TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING
COMPLETED, FAILED = TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_FAILED
CANCELED, ASKING = TaskState.TASK_STATE_CANCELED, TaskState.TASK_STATE_INPUT_REQUIRED
AUTH = TaskState.TASK_STATE_AUTH_REQUIRED


def task(task_id: str = "t", state: TaskState = SUBMITTED, *artifacts: Artifact) -> Task:
    return Task(id=task_id, context_id="c", status=TaskStatus(state=state), artifacts=artifacts)


def status(state: TaskState, text: str = "", task_id: str = "t", **metadata) -> TaskStatusUpdateEvent:
    message = said(text, text) if text else None
    return TaskStatusUpdateEvent(
        task_id=task_id,
        context_id="c",
        status=TaskStatus(state=state, message=message),
        metadata=metadata or None,
    )


def said(text: str, message_id: str = "m", role: Role = Role.ROLE_AGENT) -> Message:
    return Message(message_id=message_id, role=role, parts=[Part(text=text)])


def chunk(
    text: str, *, append: bool = True, artifact: str = "a", task_id: str = "t"
) -> TaskArtifactUpdateEvent:
    content = Artifact(artifact_id=artifact, parts=[Part(text=text)])
    return TaskArtifactUpdateEvent(task_id=task_id, context_id="c", artifact=content, append=append)
