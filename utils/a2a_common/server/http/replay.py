"""Hands a message back to whoever reads next."""

from __future__ import annotations

from starlette.types import Message, Receive


def after(first: Message, receive: Receive) -> Receive:
    """A `receive` that gives `first` and then what `receive` gives."""
    waiting = [first]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed
