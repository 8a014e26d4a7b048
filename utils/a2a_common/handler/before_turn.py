"""What is asked about a message before its turn begins: whether it is one for a turn, and what the agent does first."""

from __future__ import annotations

from typing import Protocol

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Message

from utils.auth.principal import Principal


class ConversationRequests(Protocol):
    """Answers messages that ask for the caller's conversations: without a model, a turn or a task."""

    async def answer(self, message: Message, call: ServerCallContext) -> Message | None:
        """The answer to a message that is for it; `None` for one that begins or continues a turn.

        Raises:
            A2AError: The message is refused.
            StorageError: The storage failed.
        """


class NoConversationRequests:
    """Every message is for a turn."""

    async def answer(self, message: Message, call: ServerCallContext) -> Message | None:
        """None."""
        del message, call
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
