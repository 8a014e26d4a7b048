"""The hooks of an agent for a message before its turn begins: whether its extensions answer it, and what must be done first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Message

if TYPE_CHECKING:
    from utils.auth.principal import Principal


class MessageAnswers(Protocol):
    """Answers messages of an extension, without a model, a turn or a task: such as those that ask for conversations."""

    async def answer(self, message: Message, call: ServerCallContext) -> Message | None:
        """The answer to a message of its own extension; `None` for a message that begins or continues a turn.

        Raises:
            A2AError: The message is refused.
            StorageError: The storage failed.
        """


class Preparation(Protocol):
    """Called for each message that begins or continues a turn, while the call of its sender is open."""

    async def prepare(self, task_id: str, caller: Principal | None, credential: str) -> None:
        """Prepare the turn. It is submitted when this returns, and may run in another process.

        Args:
            task_id: The task.
            caller: The sender of the message; `None` without authentication.
            credential: The caller's credential, which is kept nowhere else; empty without one.
        """
