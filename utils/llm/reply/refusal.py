"""Refusals that OpenAI's APIs send in a separate field: they become the text, and the reply ends as a filtered one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage

REFUSED = "refusal"
"""The finish reason of such a reply, in Anthropic's spelling; also the name of OpenAI's field and block."""


def with_refusal_text(chunk: dict[str, Any], *, refused: bool) -> tuple[dict[str, Any], bool]:
    """A chunk of a streamed chat completion with a refusal as its text, and whether the reply is a refusal.

    Args:
        chunk: The chunk as received.
        refused: Whether an earlier chunk of the reply contained a refusal.
    """
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, Mapping):
        return chunk, refused
    delta = choice.get("delta")
    words = delta.get(REFUSED) if isinstance(delta, Mapping) else None
    changed = dict(choice)
    if words and isinstance(words, str) and isinstance(delta, Mapping):
        refused = True
        changed["delta"] = {**delta, "content": f"{delta.get('content') or ''}{words}", REFUSED: None}
    if refused and choice.get("finish_reason"):
        changed["finish_reason"] = REFUSED
    return ({**chunk, "choices": [changed]} if changed != choice else chunk), refused


def with_refusal_as_text(message: AIMessage) -> AIMessage:
    """The message with a refusal as its text: from a block of the Responses API, or from a separate field."""
    field = message.additional_kwargs.get(REFUSED)
    blocks = message.content if isinstance(message.content, list) else []
    if field and isinstance(field, str):
        content: Any = [*blocks, _text(field)] if blocks else f"{message.content or ''}{field}"
    elif any(map(_refuses, blocks)):
        content = [_text(str(each[REFUSED])) if _refuses(each) else each for each in blocks]  # type: ignore[index]
    else:
        return message
    fields = {name: value for name, value in message.additional_kwargs.items() if name != REFUSED}
    ended = {**message.response_metadata, "finish_reason": REFUSED}
    return message.model_copy(
        update={"content": content, "additional_kwargs": fields, "response_metadata": ended}
    )


def _refuses(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("type") == REFUSED and bool(block.get(REFUSED))


def _text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}
