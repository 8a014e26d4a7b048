"""Whether a message that could answer a question repeats the request that led to it. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message, Task

_FEWEST_WORDS = 3
_FEWEST_CHARACTERS = 12
"""A shorter text may be an answer: a user who begins with "Berlin" and is asked for a city sends it again."""


def repeats_request(message: Message, task: Task) -> bool:
    """Whether a message has the same text as the one that began the task, and no data: it repeats the request."""
    first = next(iter(task.history), None)
    if first is None or first.message_id == message.message_id:
        return False
    if any(part.HasField("data") for part in message.parts):
        return False
    words = _texts(message)
    long_enough = len(words) >= _FEWEST_WORDS or len("".join(words)) >= _FEWEST_CHARACTERS
    return long_enough and words == _texts(first)


def _texts(message: Message) -> list[str]:
    return re.findall(r"\w+", " ".join(part.text for part in message.parts).casefold())
