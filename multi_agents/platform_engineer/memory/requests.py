"""Answers requests of the memory extension: list, search, add and forget. No model request is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Message, Part, Role
from a2a.utils.errors import InvalidParamsError, UnsupportedOperationError

from utils.a2a_common.protocol.extension_data import MalformedRequest
from utils.a2a_common.protocol.memories import (
    MEMORY_EXTENSION,
    MemoryAction,
    MemoryRequest,
    parse_memory_request,
)
from utils.a2a_common.protocol.owner import owner_of, parts_of
from utils.a2a_common.protocol.parts import data_part, objects_under
from utils.memory.memory import NAMES, Memory, MemoryKind, owner_label
from utils.memory.own_words import tells_secret

if TYPE_CHECKING:
    from collections.abc import Callable

    from utils.memory.long_term import LongTermMemory

ANONYMOUS = "Nothing is remembered of a caller without a name. Switch authentication on with AUTH_MODE."
OFF = "Nothing is remembered: LONG_TERM_MEMORY is off."
NOT_KEPT = "Not remembered: it seems to hold a password, a key or a number that is secret."
NO_SUCH = "There is no such memory."

_MOST_FOUND = 20


class MemoryRequests:
    """Answers requests about the caller's memories.

    Args:
        memory: Returns the memory; `None` if it is off and nothing was stored before.
    """

    def __init__(self, memory: Callable[[], LongTermMemory | None]) -> None:
        self._memory = memory

    async def answer(self, message: Message, call: ServerCallContext) -> Message | None:
        """The answer to a request about memories; `None` for any other message.

        Raises:
            InvalidParamsError: The request cannot be understood, or names a memory that does not exist.
            UnsupportedOperationError: Nothing can be remembered of this caller.
            StorageError: The storage failed.
        """
        try:
            asked = parse_memory_request(objects_under(MEMORY_EXTENSION, message))
        except MalformedRequest as error:
            raise InvalidParamsError(str(error)) from None
        if asked is None:
            return None
        owner = owner_label(*parts_of(owner_of(call)))
        if owner is None:
            raise UnsupportedOperationError(ANONYMOUS)
        memory = self._memory()
        if memory is None or (asked.action is MemoryAction.ADD and not memory.settings.on):
            raise UnsupportedOperationError(OFF)
        return _message(*await _done(memory, owner, asked), asked.action)


async def _done(memory: LongTermMemory, owner: str, asked: MemoryRequest) -> tuple[str, Sequence[Memory]]:
    """The sentence of the answer, and the memories in it."""
    match asked.action:
        case MemoryAction.LIST:
            found = await memory.all_of(owner)
            return _counted(len(found)), found
        case MemoryAction.SEARCH:
            found = await memory.found(owner, asked.text, _MOST_FOUND)
            return _counted(len(found)), found
        case MemoryAction.ADD:
            if tells_secret(asked.text):
                raise InvalidParamsError(NOT_KEPT)
            kept = await memory.remember(owner, MemoryKind.FACT, asked.text, "")
            return "It is remembered.", [each for each in await memory.all_of(owner) if each.id == kept.id]
        case MemoryAction.FORGET:
            meant = [each for each in await memory.all_of(owner) if each.id == asked.memory_id]
            if not meant:
                raise InvalidParamsError(NO_SUCH)
            await memory.forget(owner, meant)
            return "It is forgotten.", meant
        case MemoryAction.FORGET_ALL:
            meant = await memory.all_of(owner)
            await memory.forget(owner, meant)
            return f"Forgotten: {_counted(len(meant))}", meant


def _counted(number: int) -> str:
    return "1 memory." if number == 1 else f"{number} memories."


def _message(sentence: str, memories: Sequence[Memory], action: MemoryAction) -> Message:
    listed = [
        {"id": each.id, "kind": NAMES[each.kind], "text": each.text, "day": each.day} for each in memories
    ]
    payload = {MEMORY_EXTENSION: {"action": action.value, "memories": listed}}
    return Message(
        message_id=str(uuid4()), role=Role.ROLE_AGENT, parts=[Part(text=sentence), data_part(payload)]
    )
