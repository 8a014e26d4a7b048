"""The extension for what an agent remembers of the caller: a data part that lists, searches, adds or forgets it. Pure.

No model answers such a message, and no task is made of it: the answer is a message with a sentence and a data part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from utils.a2a_common.protocol.extension_data import MalformedRequest, request_in

MEMORY_EXTENSION = "urn:platform-engineer:ext:memory:v1"
MEMORY_DESCRIPTION = "A data part that lists, searches, adds or forgets what is remembered of the caller."

LONGEST_MEMORY = 400
"""Most characters of a memory that a client adds."""


class MemoryAction(StrEnum):
    """What a client can request."""

    LIST = "list"
    SEARCH = "search"
    ADD = "add"
    FORGET = "forget"
    FORGET_ALL = "forget-all"


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """A client's request about its memories.

    Attributes:
        action: What to do.
        text: The text to search for or to add.
        memory_id: Id of the memory to forget.
    """

    action: MemoryAction
    text: str = ""
    memory_id: str = ""


_NEEDS = {MemoryAction.SEARCH: "text", MemoryAction.ADD: "text", MemoryAction.FORGET: "id"}


def memory_part(asked: MemoryRequest) -> dict[str, Any]:
    """The data part of a request."""
    payload = {"action": asked.action.value}
    if asked.text:
        payload["text"] = asked.text
    if asked.memory_id:
        payload["id"] = asked.memory_id
    return {MEMORY_EXTENSION: payload}


def parse_memory_request(data: Iterable[Mapping[str, Any]]) -> MemoryRequest | None:
    """The request in a message's data parts; `None` if there is none.

    Raises:
        MalformedRequest: It cannot be understood.
    """
    payload = request_in(data, MEMORY_EXTENSION)
    if payload is None:
        return None
    try:
        action = MemoryAction(str(payload.get("action")))
    except ValueError:
        raise MalformedRequest(f"action must be one of {', '.join(MemoryAction)}.") from None
    text, memory_id = (" ".join(str(payload.get(name) or "").split()) for name in ("text", "id"))
    needed = _NEEDS.get(action)
    if needed and not {"text": text, "id": memory_id}[needed]:
        raise MalformedRequest(f"{needed} is missing.")
    if len(text) > LONGEST_MEMORY:
        raise MalformedRequest(f"text must have at most {LONGEST_MEMORY} characters.")
    return MemoryRequest(action, text, memory_id)
