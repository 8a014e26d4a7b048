"""Marks a model's answer that is a question to the user, so that the task waits for the reply."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

ASKS = "asks_user"
"""Key in the `response_metadata` of such an answer."""


def asks_user(message: AIMessage) -> bool:
    """Whether a model's answer, or a chunk of it, asks the user for something."""
    return bool(message.response_metadata.get(ASKS))
