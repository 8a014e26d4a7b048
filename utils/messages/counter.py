"""Counts tokens of messages with a memo, and calibrates the counts with the usage that providers report.

`MessageCounter` caches the count of each message. Providers other than OpenAI charge other numbers than
tiktoken counts: `Calibration` is the ratio of the two, first a pessimistic value for the provider, then
the one measured on the last reported usage.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from utils.messages.marks import COUNTED_TOKENS, USAGE_COUNTED
from utils.messages.media.charges import UNKNOWN, MediaCharges
from utils.messages.notes import notes_of
from utils.messages.tokens import (
    DEFAULT_ENCODING,
    TOKENS_PER_REPLY,
    count_message_tokens,
    count_text_tokens,
    count_tools_tokens,
)
from utils.model_providers import PROVIDER_TRAITS

UNKNOWN_RATIO = 1.35
"""Upper bound of charged tokens per counted token for a provider that is in no table, used until it is measured."""

BELIEVED = (0.7, 2.5)
"""Lowest and highest plausible ratio of reported to counted tokens.

All tokenisers in use are inside: Claude's and Llama's reach 1.35 on code, and tool schemas are counted up to a third too high.
Ratios outside come from servers that report something else, such as the sum over all chunks, or only uncached tokens."""

_SAFETY = 1.005
_REMEMBERED = 20_000
_LONG_TEXT = 20_000  # characters
_REPRESENTATIVE = 4_000  # counted tokens; smaller requests consist mostly of prompt and tools
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

    It may be shared by conversations and threads: a count depends on the content only, and no text is kept.

    Args:
        encoding: `o200k_base` or `cl100k_base`.
        charges: What pictures and documents cost.
        remembered: Number of new counts after which those not used since the last time are dropped.
    """

    def __init__(
        self,
        encoding: str = DEFAULT_ENCODING,
        remembered: int = _REMEMBERED,
        charges: MediaCharges = UNKNOWN,
    ) -> None:
        self.encoding = encoding
        self.charges = charges
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
        return self._remembered(
            _key(message), lambda: count_message_tokens(message, self.encoding, self.charges)
        )

    def messages(self, messages: Iterable[BaseMessage]) -> int:
        """Tokens of a request's messages, including those that open the reply."""
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
    """Ratio of charged to counted tokens."""

    ratio: float = 1.0

    def charged(self, counted: int) -> int:
        """Tokens that the provider charges for `counted` tokens."""
        return math.ceil(counted * self.ratio)

    def at_least(self, ratio: float) -> Calibration:
        """The calibration with `ratio` as a lower bound."""
        return Calibration(max(self.ratio, ratio))


def calibrate(messages: Sequence[BaseMessage], provider: str | None = None) -> Calibration:
    """The ratio measured at the conversation's last answer, otherwise the provider's pessimistic one.

    The measured ratio is raised by half a percent, because later messages may have a slightly higher one.
    Messages after the measured request may be of another kind, such as a page of JSON after a short
    question: for them a ratio of at least 1 is used, and after a short request at least the pessimistic
    one. Answers with an implausible usage are ignored.
    """
    guess = _guess(provider) if provider else 1.0
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


def _guess(provider: str) -> float:
    traits = PROVIDER_TRAITS.get(provider)
    return traits.token_ratio if traits else UNKNOWN_RATIO


def _measured(message: BaseMessage) -> tuple[int, int]:
    """Counted and reported tokens of an answer's request; zeros if either is unknown or the ratio is implausible."""
    if not isinstance(message, AIMessage) or not message.usage_metadata:
        return 0, 0
    if USAGE_COUNTED.of(message):
        return 0, 0
    counted = COUNTED_TOKENS.of(message)
    reported = message.usage_metadata.get("input_tokens", 0)
    if counted is None or counted <= 0:
        return 0, 0
    lowest, highest = BELIEVED
    return (counted, reported) if lowest <= reported / counted <= highest else (0, 0)


def with_count(message: AIMessage, counted: int) -> AIMessage:
    """The answer with the counted tokens of its request in its metadata, for `calibrate`."""
    return COUNTED_TOKENS.on(message, counted)


def _key(message: BaseMessage) -> object:
    """The message's id and a hash of everything that is counted, so that the memo keeps no text."""
    content = message.content
    body = hash(content) if isinstance(content, str) else _blocks_hash(content)
    calls = 0
    if isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls):
        calls = hash((repr(message.tool_calls), repr(message.invalid_tool_calls)))
    return message.id, message.type, message.name, body, calls, hash(notes_of(message))


def _blocks_hash(blocks: Sequence[object]) -> int:
    return hash(tuple(_block_key(block) for block in blocks))


def _block_key(block: object) -> object:
    """A key that distinguishes blocks without a copy of the content: a file in one may be megabytes of base64."""
    if isinstance(block, dict):
        return dict, tuple((name, _block_key(value)) for name, value in block.items())
    if isinstance(block, list):
        return list, tuple(_block_key(each) for each in block)
    return block if isinstance(block, str) else repr(block)
