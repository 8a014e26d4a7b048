"""Reads the usage that a server reports with an answer: evidence, compared with our own count of the request. Pure.

Some servers report nothing, some add up the tokens of every chunk, some leave out cached tokens. A report that
cannot be right is replaced by our own count, so that usage and budgets go on counting.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata

from utils.messages.counter import BELIEVED, MessageCounter
from utils.messages.marks import USAGE_COUNTED
from utils.messages.text import message_text


def with_usage(
    answer: AIMessage, charged: int, counter: MessageCounter, chunks: Sequence[UsageMetadata] = ()
) -> AIMessage:
    """The answer with a usage that can be right.

    Args:
        answer: What the model said.
        charged: Tokens of the request by our own count, as the provider should charge them.
        counter: Counts tokens.
        chunks: The usages of the stream's chunks, where each chunk may repeat the request's tokens.
    """
    reported = _once(chunks) or answer.usage_metadata
    if reported is not None and charged and _plausible(reported["input_tokens"], charged):
        return answer if reported is answer.usage_metadata else _with(answer, reported)
    kept = reported["output_tokens"] if reported and reported["input_tokens"] < charged else 0
    output = max(kept, _output(answer, counter))
    own = UsageMetadata(input_tokens=charged, output_tokens=output, total_tokens=charged + output)
    return USAGE_COUNTED.on(_with(answer, own), True)


def _once(chunks: Sequence[UsageMetadata]) -> UsageMetadata | None:
    """The usage of a stream that repeats the request's tokens in several chunks; `None` for any other stream."""
    telling = [chunk for chunk in chunks if chunk["input_tokens"] > 0]
    if len(telling) < 2:  # noqa: PLR2004 - one chunk tells, as it should
        return None
    outputs = [chunk["output_tokens"] for chunk in telling]
    output = outputs[-1] if outputs == sorted(outputs) else sum(outputs)
    last = telling[-1]
    return UsageMetadata(**{**last, "output_tokens": output, "total_tokens": last["input_tokens"] + output})


def _plausible(reported: int, charged: int) -> bool:
    lowest, highest = BELIEVED
    return lowest <= reported / charged <= highest


def _output(answer: AIMessage, counter: MessageCounter) -> int:
    calls = json.dumps([[call["name"], call["args"]] for call in answer.tool_calls], default=str)
    return counter.text(message_text(answer)) + (counter.text(calls) if answer.tool_calls else 0)


def _with(answer: AIMessage, usage: UsageMetadata) -> AIMessage:
    return answer.model_copy(update={"usage_metadata": usage})
