"""Messages that begin no turn: what is answered without a model and without a task."""

from __future__ import annotations

from typing import Protocol

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Message


class Asides(Protocol):
    """Looks at each message first."""

    async def answer(self, message: Message, call: ServerCallContext) -> Message | None:
        """The answer to a message that is for it; `None` for one that begins or continues a turn.

        Raises:
            A2AError: The message is refused.
            StorageError: The storage failed.
        """


class NoAsides:
    """Every message is for a turn."""

    async def answer(self, message: Message, call: ServerCallContext) -> Message | None:
        """None."""
        del message, call
        return None
