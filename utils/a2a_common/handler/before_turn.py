"""What is asked about a message before its turn begins: whether it is one for a turn, and what the agent does first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Message

from utils.a2a_common.protocol.message_answers import MessageAnswers
from utils.auth.principal import Principal


class FirstAnswer:
    """The first answer that any of these has; without one the message is for a turn."""

    def __init__(self, answers: Sequence[MessageAnswers] = ()) -> None:
        self._answers = answers

    async def answer(self, message: Message, call: ServerCallContext) -> Message | None:
        """The first answer."""
        for each in self._answers:
            if (answer := await each.answer(message, call)) is not None:
                return answer
        return None


class Preparation(Protocol):
    """Is asked for each message that begins a turn, or goes on with one, while the one who sent it is there."""

    async def prepare(self, task_id: str, caller: Principal | None, credential: str) -> None:
        """Prepare the turn. It is submitted when this returns, and may run in another process.

        Args:
            task_id: The task.
            caller: Who sent the message; `None` where callers are not known.
            credential: What shows that, which nothing else holds any more; empty where there is none.
        """


class NoPreparation:
    """Nothing is needed."""

    async def prepare(self, task_id: str, caller: Principal | None, credential: str) -> None:
        """Do nothing."""
