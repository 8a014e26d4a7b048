"""Runs CPU work in a worker thread if the conversation is large, so that it does not block the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from langchain_core.messages import BaseMessage

P = ParamSpec("P")
T = TypeVar("T")

_LARGE_MESSAGES = 1_000
_LARGE_CHARACTERS = 200_000
"""Above these a stage can take over 10 ms: repair takes 5 µs a message, counting 200,000 characters 20 ms."""


def is_large(messages: Sequence[BaseMessage]) -> bool:
    """Whether work on this conversation should run in a worker thread."""
    if len(messages) > _LARGE_MESSAGES:
        return True
    size = 0
    for message in messages:
        size += _size(message.content)
        if size > _LARGE_CHARACTERS:
            return True
    return False


def _size(content: object) -> int:
    """About how many characters content has as text, without a copy: a block may hold megabytes of a file."""
    if isinstance(content, str):
        return len(content)
    if isinstance(content, dict):
        return sum(len(name) + _size(value) for name, value in content.items() if isinstance(name, str))
    return sum(map(_size, content)) if isinstance(content, list) else 1


async def call(in_thread: bool, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function, in a worker thread if `in_thread` is set."""
    if in_thread:
        return await asyncio.to_thread(function, *args, **kwargs)
    return function(*args, **kwargs)
