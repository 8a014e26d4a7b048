"""Counts tokens of texts and messages with tiktoken and vendored ranks.

Counts follow OpenAI's chat format: three tokens for each message's frame, its role, its content, one for
a name, and three that open the reply (openai-cookbook, "How to count tokens with tiktoken"). What OpenAI
does not document is counted as in `langchain-openai`: three tokens for the call id of a result, and name
and arguments of a call. Pictures and documents cost what `utils.messages.media.charges` says. Nothing is downloaded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from utils.messages.media.blocks import media_of
from utils.messages.media.charges import UNKNOWN, MediaCharges
from utils.messages.notes import notes_of

if TYPE_CHECKING:
    import tiktoken

DEFAULT_ENCODING = "o200k_base"
"""Encoding of OpenAI's models from gpt-4o on."""

RANKS = Path(__file__).parent / "ranks"
"""Folder with the ranks of `o200k_base` and `cl100k_base`, named as in tiktoken's cache."""

TOKENS_PER_MESSAGE = 3
TOKENS_PER_REPLY = 3
TOKENS_PER_NAME = 1
TOKENS_PER_RESULT_ID = 3

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
_CALL_BLOCKS = ("tool_use", "tool_call", "function_call", "tool_call_chunk", "input_json_delta")


def count_text_tokens(text: str, encoding: str = DEFAULT_ENCODING) -> int:
    """Tokens of plain text; special tokens such as `<|endoftext|>` count as ordinary text.

    Args:
        text: Any text.
        encoding: `o200k_base` or `cl100k_base`.
    """
    if not text:
        return 0
    try:
        return len(_encoder(encoding).encode(text, disallowed_special=()))
    except ValueError:
        # tiktoken's regex fails on runs of about 100,000 blanks. Splitting adds one token at most.
        if len(text) == 1:
            raise
        middle = len(text) // 2
        return count_text_tokens(text[:middle], encoding) + count_text_tokens(text[middle:], encoding)


def count_message_tokens(
    message: BaseMessage, encoding: str = DEFAULT_ENCODING, charges: MediaCharges = UNKNOWN
) -> int:
    """Tokens that one message adds to a request: its frame, role, name, content and tool calls."""
    total = TOKENS_PER_MESSAGE + count_text_tokens(_role(message), encoding)
    if message.name and not isinstance(message, ToolMessage):  # a result's name is not sent
        total += TOKENS_PER_NAME + count_text_tokens(message.name, encoding)
    total += _content_tokens(message.content, encoding, charges) + count_text_tokens(
        notes_of(message), encoding
    )
    if isinstance(message, ToolMessage):
        total += TOKENS_PER_RESULT_ID
    if isinstance(message, AIMessage):
        total += sum(count_text_tokens(part, encoding) for part in _call_parts(message))
    return total


def count_messages_tokens(
    messages: Iterable[BaseMessage], encoding: str = DEFAULT_ENCODING, charges: MediaCharges = UNKNOWN
) -> int:
    """Tokens of a whole request without its tools, including the three that open the reply."""
    return TOKENS_PER_REPLY + sum(count_message_tokens(message, encoding, charges) for message in messages)


def count_tools_tokens(tools: Iterable[Mapping[str, Any]], encoding: str = DEFAULT_ENCODING) -> int:
    """Tokens of tool schemas as compact JSON: at least what providers charge."""
    return sum(count_text_tokens(_compact(tool), encoding) for tool in tools)


@cache
def _encoder(name: str) -> tiktoken.Encoding:
    os.environ["TIKTOKEN_CACHE_DIR"] = str(RANKS)  # makes tiktoken read the vendored ranks
    import tiktoken

    return tiktoken.get_encoding(name)


def _role(message: BaseMessage) -> str:
    return _ROLES.get(message.type) or str(getattr(message, "role", message.type))


def _content_tokens(content: object, encoding: str, charges: MediaCharges) -> int:
    if isinstance(content, str):
        return count_text_tokens(content, encoding)
    if isinstance(content, list):
        return sum(_block_tokens(block, encoding, charges) for block in content)
    return 0


def _block_tokens(block: object, encoding: str, charges: MediaCharges) -> int:
    if isinstance(block, str):
        return count_text_tokens(block, encoding)
    if not isinstance(block, Mapping) or block.get("type") in _CALL_BLOCKS:
        return 0  # calls are counted from `tool_calls`, where every provider's are
    if isinstance(block.get("text"), str):
        return count_text_tokens(block["text"], encoding)
    if media := media_of(block):
        return charges.of(media)
    return count_text_tokens(_compact(block), encoding)


def _call_parts(message: AIMessage) -> Iterable[str]:
    for call in message.tool_calls:
        yield call["name"]
        yield json.dumps(call["args"], ensure_ascii=False)
    for broken in message.invalid_tool_calls:
        yield broken["name"] or ""
        yield broken["args"] or ""


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)
