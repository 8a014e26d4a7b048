"""Runs work without I/O in a worker thread where it may take long, so that the event loop is not blocked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from langchain_core.messages import BaseMessage

P = ParamSpec("P")
T = TypeVar("T")

_LARGE_MESSAGES = 1_000
_LARGE_CHARACTERS = 200_000
"""Sizes from which one stage may take more than some 10 ms: repair costs 5 µs a message, tokens of 200,000 characters 20 ms."""


def is_large(messages: Sequence[BaseMessage]) -> bool:
    """Whether work on a conversation belongs in a worker thread."""
    if len(messages) > _LARGE_MESSAGES:
        return True
    return sum(len(str(message.content)) for message in messages) > _LARGE_CHARACTERS


async def call(in_thread: bool, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of a function, which runs in a worker thread if `in_thread` is set, else directly."""
    if in_thread:
        return await asyncio.to_thread(function, *args, **kwargs)
    return function(*args, **kwargs)
