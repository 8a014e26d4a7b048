"""`TurnContext`: what an executor knows of its turn, from the call or from storage."""

from __future__ import annotations

import asyncio

from a2a.server.agent_execution import RequestContext
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import SendMessageRequest, Task

from utils.a2a_common.tasks.states import INTERRUPTED
from utils.a2a_common.tasks.stored_call import stored_call
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


def _answers(turn: Turn, task: Task) -> bool:
    """Whether the task waited for this message. A resumed turn may have left that state: only the first began the task."""
    if task.status.state in INTERRUPTED:
        return True
    return bool(task.history) and task.history[0].message_id != turn.request.message.message_id
