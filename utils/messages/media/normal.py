"""Pictures and documents in the places and forms that every provider takes. Pure.

OpenAI's Chat Completions take text only in tool results, so that what a tool returned beside text follows in a user message
directly after the results. Amazon Bedrock needs a name for each document that no other document of the request has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from utils.messages.media.blocks import media_of, shared_block
from utils.messages.media.stored import has_media, media_handle
from utils.messages.transcript import as_stand_in

FOLLOWS = "(What this result holds beside text is in a message after the results.)"
RETURNED = "What a tool result before this message holds beside text:"

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9()\[\] -]+")
_LONGEST_NAME = 60


def with_normal_media(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages with pictures and documents in user messages only, each in a form that every client translates."""
    if not any(has_media(message) for message in messages):
        return list(messages)
    names: Counter[str] = Counter()
    return [_normal(message, names) for message in _after_results(messages)]


def _after_results(messages: Sequence[BaseMessage]) -> Iterator[BaseMessage]:
    held: list[BaseMessage] = []
    for message in messages:
        if not isinstance(message, ToolMessage):
            yield from held
            held = []
            yield message
            continue
        if not has_media(message):
            yield message
            continue
        kept = [block for block in message.content if not media_of(block)]
        held.append(_returned(message))
        yield message.model_copy(update={"content": [*kept, _text(FOLLOWS)]})
    yield from held


def _returned(result: ToolMessage) -> BaseMessage:
    """A message for each result, since other results of the same answer may come later."""
    blocks = [block for block in result.content if media_of(block)]
    return as_stand_in(HumanMessage([_text(RETURNED), *blocks], id=f"media-{result.id}"))


def _normal(message: BaseMessage, names: Counter[str]) -> BaseMessage:
    if not isinstance(message, HumanMessage) or not isinstance(message.content, list):
        return message
    blocks = [_shared(block, names) for block in message.content]
    return message if blocks == message.content else message.model_copy(update={"content": blocks})


def _shared(block: Any, names: Counter[str]) -> Any:
    media = media_of(block)
    if media is None:
        return block
    shared = shared_block(block, media)
    if shared.get("type") != "file":
        return shared
    stem = _NOT_IN_NAMES.sub(" ", media.name.rpartition(".")[0] or media.name)[:_LONGEST_NAME].strip()
    name = f"{stem or 'file'} {media_handle(media)[4:10]}"
    names[name] += 1
    return {"filename": "file", **shared, "name": name if names[name] == 1 else f"{name}-{names[name]}"}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
