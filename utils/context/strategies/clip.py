"""Clips the largest messages to head and tail until the request fits. Pure.

All messages over one level are clipped to that level, the highest with which the request fits, so that
small messages stay unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

from utils.context.excerpt import excerpt_tokens
from utils.context.protocols import TokenCounter
from utils.context.ranked import capped, parse_ranked
from utils.context.rendering import full_text
from utils.context.report import Changed
from utils.messages.handles import full_output_of, handle_of
from utils.messages.marks import FULL_OUTPUT
from utils.messages.media.stored import media_in
from utils.messages.transcript import active_index

LEVEL_FLOOR = 48
"""Tokens to which any message without tool calls can be clipped: frame, marker and handle."""


def clip(
    messages: Sequence[BaseMessage], room: int, counter: TokenCounter, *, spare_active: bool
) -> Changed | None:
    """Clip until the messages cost at most `room` tokens; `None` if there are too many messages for that."""
    sizes = [counter.message(message) for message in messages]
    if sum(sizes) <= room:
        return Changed(list(messages))
    spare = active_index(messages) if spare_active else None
    return _clip_all(messages, sizes, room, spare, counter)


def _clip_all(
    messages: Sequence[BaseMessage], sizes: Sequence[int], room: int, spare: int | None, counter: TokenCounter
) -> Changed | None:
    level = _level(sizes, room, spare)
    while True:
        artifacts: dict[str, str] = {}
        clipped = [
            message
            if index == spare or size <= max(level, LEVEL_FLOOR)
            else clip_message(message, max(level, LEVEL_FLOOR), counter, artifacts)
            for index, (message, size) in enumerate(zip(messages, sizes, strict=True))
        ]
        cost = sum(counter.message(message) for message in clipped)
        if cost <= room:
            return Changed(clipped, artifacts)
        if level <= LEVEL_FLOOR:
            return None
        level = int(level * min(0.9, room / cost))


def _level(sizes: Sequence[int], room: int, spare: int | None) -> int:
    """The highest level with which the sizes, each but `spare` limited to it, add up to at most `room`."""
    low, high = LEVEL_FLOOR, max(sizes)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(size if i == spare else min(size, middle) for i, size in enumerate(sizes)) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def clip_message(
    message: BaseMessage, level: int, counter: TokenCounter, artifacts: dict[str, str]
) -> BaseMessage:
    """The message in about `level` tokens: its text clipped, and if necessary the arguments of its calls."""
    text = full_text(message)
    update: dict[str, object] = {}
    if isinstance(message, AIMessage) and message.tool_calls:
        frame = counter.message(message.model_copy(update={"content": ""}))
        if frame > level // 2:
            each = max(0, level // 2 // len(message.tool_calls) - 8)
            update["tool_calls"] = [
                {**call, "args": _short_args(call["args"], each, counter, artifacts)}
                for call in message.tool_calls
            ]
            update["content"] = ""
            frame = counter.message(message.model_copy(update=update))
    else:
        frame = counter.message(message.model_copy(update={"content": ""}))
    handle = full_output_of(message) or handle_of(text)
    update["content"] = _short_text(text, max(0, level - frame), handle, counter)
    artifacts |= media_in([message])
    if update["content"] != text and full_output_of(message) is None:
        artifacts[handle] = text
        update["additional_kwargs"] = {**message.additional_kwargs, **FULL_OUTPUT.entry(handle)}
    if not update["content"] and not (isinstance(message, AIMessage) and message.tool_calls):
        update["content"] = "[left out]"
    return message.model_copy(update=update)


def _short_text(text: str, room: int, handle: str, counter: TokenCounter) -> str:
    """The text in at most `room` tokens: a list ends with an entry, any other text keeps its head and its tail."""
    ranked = parse_ranked(text) if counter.text(text) > room else None
    if ranked is not None:
        shown = capped(ranked, lambda part: counter.text(part) <= room, handle)
        if counter.text(shown) <= room:
            return shown
    return excerpt_tokens(text, room, handle, counter) if text.strip() else text


def _short_args(
    args: dict[str, object], tokens: int, counter: TokenCounter, artifacts: dict[str, str]
) -> dict[str, object]:
    text = json.dumps(args, ensure_ascii=False, default=str)
    if counter.text(text) <= tokens:
        return args
    handle = handle_of(text)
    artifacts[handle] = text
    return {"clipped": handle}
