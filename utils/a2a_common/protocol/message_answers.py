"""What answers a message of an extension: without a model, a turn or a task."""

from __future__ import annotations

from typing import Protocol

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Message


class MessageAnswers(Protocol):
    """Answers messages that ask for what is kept of the caller, such as conversations."""

    async def answer(self, message: Message, call: ServerCallContext) -> Message | None:
        """The answer to a message that is for it; `None` for one that begins or continues a turn.

        Raises:
            A2AError: The message is refused.
            StorageError: The storage failed.
        """
