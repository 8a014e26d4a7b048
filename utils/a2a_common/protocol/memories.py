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
    """What can be asked."""

    LIST = "list"
    SEARCH = "search"
    ADD = "add"
    FORGET = "forget"
    FORGET_ALL = "forget-all"


@dataclass(frozen=True, slots=True)
class MemoryAsked:
    """What a client asks of its memories.

    Attributes:
        action: What is to be done.
        text: What is searched for or added.
        memory_id: What is forgotten.
    """

    action: MemoryAction
    text: str = ""
    memory_id: str = ""


_NEEDS = {MemoryAction.SEARCH: "text", MemoryAction.ADD: "text", MemoryAction.FORGET: "id"}


def memory_part(asked: MemoryAsked) -> dict[str, Any]:
    """The data part of a message that asks."""
    told = {"action": asked.action.value}
    if asked.text:
        told["text"] = asked.text
    if asked.memory_id:
        told["id"] = asked.memory_id
    return {MEMORY_EXTENSION: told}


def memory_asked(data: Iterable[Mapping[str, Any]]) -> MemoryAsked | None:
    """What a message's data parts ask; `None` if nothing.

    Raises:
        MalformedRequest: It cannot be understood.
    """
    told = request_in(data, MEMORY_EXTENSION)
    if told is None:
        return None
    try:
        action = MemoryAction(str(told.get("action")))
    except ValueError:
        raise MalformedRequest(f"action must be one of {', '.join(MemoryAction)}.") from None
    text, memory_id = (" ".join(str(told.get(name) or "").split()) for name in ("text", "id"))
    needed = _NEEDS.get(action)
    if needed and not {"text": text, "id": memory_id}[needed]:
        raise MalformedRequest(f"{needed} is missing.")
    if len(text) > LONGEST_MEMORY:
        raise MalformedRequest(f"text must have at most {LONGEST_MEMORY} characters.")
    return MemoryAsked(action, text, memory_id)
