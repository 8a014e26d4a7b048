"""The strict provider's own token count, from the JSON of a request.

It shares no code with `utils.messages.tokens`, so that a mistake there shows as a rejection here.
Bedrock's models have tokenisers of their own; here they count as OpenAI's do.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tiktoken

_RANKS = Path(__file__).parents[2] / "messages" / "ranks"
_PIECE = 20_000  # tiktoken's regex fails on much longer runs of blanks


@cache
def _encoder() -> tiktoken.Encoding:
    os.environ["TIKTOKEN_CACHE_DIR"] = str(_RANKS)  # a switch of tiktoken: nothing is downloaded
    import tiktoken

    return tiktoken.get_encoding("o200k_base")


def text_tokens(text: str) -> int:
    """Tokens of a text."""
    try:
        return len(_encoder().encode_ordinary(text))
    except ValueError:
        pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
        return sum(len(_encoder().encode_ordinary(piece)) for piece in pieces)


def first_tokens(text: str, limit: int) -> str:
    """The text of the first `limit` tokens."""
    return _encoder().decode(_encoder().encode_ordinary(text)[:limit])


def openai_tokens(messages: Iterable[Mapping[str, Any]]) -> int:
    """Tokens of OpenAI messages, by the rule that OpenAI publishes."""
    return 3 + sum(_openai_message(message) for message in messages)


def schema_tokens(tools: Iterable[Mapping[str, Any]]) -> int:
    """Tokens of declared tools, as compact JSON."""
    return sum(text_tokens(json.dumps(tool, separators=(",", ":"), ensure_ascii=False)) for tool in tools)


def bedrock_tokens(body: Mapping[str, Any]) -> int:
    """Tokens of a Converse request without its tools."""
    system = sum(3 + text_tokens("system" + block.get("text", "")) for block in body.get("system") or ())
    turns = (
        3 + text_tokens(message["role"]) + sum(_block(block) for block in message["content"])
        for message in body["messages"]
    )
    return 3 + system + sum(turns)


def _openai_message(message: Mapping[str, Any]) -> int:
    total = 3 + text_tokens(message["role"]) + _openai_content(message.get("content"))
    if message.get("name"):
        total += 1 + text_tokens(message["name"])
    if "tool_call_id" in message:
        total += 3
    for call in message.get("tool_calls") or ():
        total += text_tokens(call["function"]["name"]) + text_tokens(call["function"]["arguments"])
    return total


def _openai_content(content: object) -> int:
    if isinstance(content, str):
        return text_tokens(content)
    if not isinstance(content, list):
        return 0
    return sum(
        text_tokens(part["text"]) if part.get("type") in {"text", "refusal"} and "text" in part else 85
        for part in content
    )


def _block(block: Mapping[str, Any]) -> int:
    if "text" in block:
        return text_tokens(block["text"])
    if "toolUse" in block:
        use = block["toolUse"]
        return text_tokens(use["name"]) + text_tokens(json.dumps(use["input"], ensure_ascii=False))
    if "toolResult" in block:
        return 3 + sum(_block(part) for part in block["toolResult"]["content"])
    if "json" in block:
        return text_tokens(json.dumps(block["json"], ensure_ascii=False))
    return 0
