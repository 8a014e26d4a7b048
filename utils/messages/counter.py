"""Counts that are fast on a growing conversation and true to what the provider reports.

`MessageCounter` remembers the count of each message by id and content. What a provider charges
differs from what tiktoken counts for models that are not OpenAI's: `Calibration` is the ratio of
the two, first a pessimistic guess for the provider, then measured on the last reported usage.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from utils.messages.tokens import (
    DEFAULT_ENCODING,
    TOKENS_PER_REPLY,
    count_message_tokens,
    count_text_tokens,
    count_tools_tokens,
)

PROVIDER_RATIOS: Mapping[str, float] = {
    "openai": 1.0,
    "azure-openai": 1.0,
    "embedded": 1.0,
    "aws-bedrock": 1.35,
    "openai-compatible": 1.25,
    "anthropic": 1.35,
    "google-gemini": 1.2,
    "gcp-vertexai": 1.2,
}
"""Tokens that a provider may charge for each that tiktoken counts, on the safe side, until measured.

Claude's tokenisers give up to a third more than `o200k_base` on code and JSON; open models' (Llama,
Qwen, Mistral) up to a quarter."""

UNKNOWN_RATIO = 1.35

BELIEVED = (0.7, 2.5)
"""Reported tokens for each counted one that are believed, lowest and highest.

No tokeniser of a model in use is outside: Claude's and Llama's reach 1.35 of `o200k_base` on code, tool schemas are counted up to
a third too high. What is outside is another number: tokens of each chunk added up, or those alone that were not cached."""

COUNTED_KEY = "counted_tokens"
"""Where an answer's `response_metadata` says what was counted for the request that it answers."""

_SAFETY = 1.005
_REMEMBERED = 20_000
_LONG_TEXT = 20_000  # characters
_REPRESENTATIVE = 4_000  # counted tokens of a request, most of which are not its prompt and tools
_CHARACTERS_PER_TOKEN = 4
_CL100K_MODELS = ("gpt-4-", "gpt-3.5", "text-embedding")


def encoding_for(model: str | None) -> str:
    """The tiktoken encoding of a model: `cl100k_base` for GPT-4 and GPT-3.5, else `o200k_base`."""
    name = (model or "").lower()
    if name == "gpt-4" or name.startswith(_CL100K_MODELS):
        return "cl100k_base"
    return DEFAULT_ENCODING


class MessageCounter:
    """Token counts of one encoding, with a memo by message id and content hash.

    May be shared by conversations and threads: a count depends on the content alone, and no text is kept.

    Args:
        encoding: `o200k_base` or `cl100k_base`.
        remembered: Number of counts after which those that were not used since are dropped.
    """

    def __init__(self, encoding: str = DEFAULT_ENCODING, remembered: int = _REMEMBERED) -> None:
        self.encoding = encoding
        self._most = remembered
        self._recent: dict[object, int] = {}
        self._older: dict[object, int] = {}

    def text(self, text: str) -> int:
        """Tokens of plain text."""
        if len(text) > _LONG_TEXT:
            return self._remembered((len(text), hash(text)), lambda: self._count_text(text))
        return self._count_text(text)

    def message(self, message: BaseMessage) -> int:
        """Tokens that one message adds to a request."""
        return self._remembered(_key(message), lambda: count_message_tokens(message, self.encoding))

    def messages(self, messages: Iterable[BaseMessage]) -> int:
        """Tokens of a request's messages, with those that open the answer."""
        return TOKENS_PER_REPLY + sum(map(self.message, messages))

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of tool schemas as sent."""
        return count_tools_tokens(tools, self.encoding)

    def _count_text(self, text: str) -> int:
        return count_text_tokens(text, self.encoding)

    def _remembered(self, key: object, count: Callable[[], int]) -> int:
        known = self._recent.get(key)
        if known is None:
            known = self._older.get(key)
            if len(self._recent) >= self._most:
                self._older, self._recent = self._recent, {}
            known = self._recent[key] = count() if known is None else known
        return known


@dataclass(frozen=True, slots=True)
class Calibration:
    """How many tokens the provider charges for each that was counted."""

    ratio: float = 1.0

    def charged(self, counted: int) -> int:
        """What a request of `counted` tokens will cost."""
        return math.ceil(counted * self.ratio)

    def at_least(self, ratio: float) -> Calibration:
        """This calibration, or a higher one where a refusal has shown that it is too low."""
        return Calibration(max(self.ratio, ratio))


def calibrate(messages: Sequence[BaseMessage], provider: str | None = None) -> Calibration:
    """The ratio as the conversation's last answer shows it, else the provider's pessimistic one.

    The measured ratio is rounded up by half a percent, so that what follows in the same
    conversation is not under-estimated by the difference between its messages. What came after the
    measured request may be of another kind: a page of JSON after a short question. It is charged no
    less than it was counted, and after a short request no less than the pessimistic ratio. An answer whose usage is
    not believed is passed over.
    """
    guess = PROVIDER_RATIOS.get(provider or "", UNKNOWN_RATIO) if provider else 1.0
    since = 0
    for message in reversed(messages):
        counted, reported = _measured(message)
        if not counted:
            since += len(str(message.content)) // _CHARACTERS_PER_TOKEN
            continue
        ratio = reported / counted * _SAFETY
        floor = guess if counted < _REPRESENTATIVE else 1.0
        return Calibration((counted * ratio + since * max(ratio, floor)) / (counted + since))
    return Calibration(guess)


def _measured(message: BaseMessage) -> tuple[int, int]:
    """Tokens counted for the request of an answer, and those reported; zeros where either is unknown or not believed."""
    if not isinstance(message, AIMessage) or not message.usage_metadata:
        return 0, 0
    counted = message.response_metadata.get(COUNTED_KEY)
    reported = message.usage_metadata.get("input_tokens", 0)
    if not isinstance(counted, int) or counted <= 0:
        return 0, 0
    lowest, highest = BELIEVED
    return (counted, reported) if lowest <= reported / counted <= highest else (0, 0)


def with_count(message: AIMessage, counted: int) -> AIMessage:
    """The answer, carrying what was counted for its request, for `calibrate` to read later."""
    return message.model_copy(
        update={"response_metadata": {**message.response_metadata, COUNTED_KEY: counted}}
    )


def _key(message: BaseMessage) -> object:
    """The message's id and a hash of all that is counted; texts are hashed so that the memo keeps none."""
    content = message.content
    body = hash(content) if isinstance(content, str) else _blocks_hash(content)
    calls = 0
    if isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls):
        calls = hash((repr(message.tool_calls), repr(message.invalid_tool_calls)))
    return message.id, message.type, message.name, body, calls


def _blocks_hash(blocks: Sequence[object]) -> int:
    return hash(tuple(_block_key(block) for block in blocks))


def _block_key(block: object) -> object:
    if isinstance(block, dict) and isinstance(block.get("text"), str):
        return (block.get("type"), block["text"])
    return block if isinstance(block, str) else repr(block)
