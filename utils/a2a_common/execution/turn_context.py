"""`TurnContext`: what an executor knows of its turn, from the call or from storage."""

from __future__ import annotations

import asyncio

from a2a.auth.user import UnauthenticatedUser, User
from a2a.server.agent_execution import RequestContext
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import SendMessageRequest, Task

from utils.a2a_common.protocol.request import ANSWERED_TASK
from utils.a2a_common.tasks.states import INTERRUPTED
from utils.a2a_common.tasks.turn import Turn


class TurnContext(RequestContext):
    """The context of one turn.

    Attributes:
        resumed: Whether an earlier process accepted the turn, which goes on here.
        answers: Whether the message answers a question of the task.
        deadline: When the answer comes too late, in seconds since 1970; `None` for no limit.
        suspended: Set before the executor is stopped so that the turn can go on in another process.
    """

    def __init__(
        self, turn: Turn, call: ServerCallContext | None, task: Task | None, *, resumed: bool
    ) -> None:
        request = SendMessageRequest()
        request.CopyFrom(turn.request)
        super().__init__(
            call or stored_call(turn), request, task_id=turn.task_id, context_id=turn.context_id, task=task
        )
        self.resumed = resumed
        self.answers = task is not None and _answers(turn, task)
        self.deadline = turn.deadline
        self.suspended = asyncio.Event()


class StoredUser(User):
    """The caller of a turn that an earlier process accepted: it was authenticated there."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def is_authenticated(self) -> bool:
        """Yes."""
        return True

    @property
    def user_name(self) -> str:
        """The name of the user."""
        return self._name


def stored_call(turn: Turn) -> ServerCallContext:
    """The call of a turn that an earlier process accepted, without its credentials, which are not stored."""
    state: dict[str, object] = {"headers": dict(turn.trace)}
    if turn.judged:
        state[ANSWERED_TASK] = turn.task_id
    return ServerCallContext(
        state=state,
        user=StoredUser(turn.user) if turn.user else UnauthenticatedUser(),
        tenant=turn.tenant,
        requested_extensions=set(turn.extensions),
    )


def _answers(turn: Turn, task: Task) -> bool:
    """Whether the task waited for this message. A resumed turn may have left that state: only the first began the task."""
    if task.status.state in INTERRUPTED:
        return True
    return bool(task.history) and task.history[0].message_id != turn.request.message.message_id
