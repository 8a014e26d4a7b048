"""What providers and servers answer to a request that is too long, and what only resembles it."""

from __future__ import annotations

from typing import Any

import httpx
import openai
import pytest

from utils.errors import ContentRefused, ContextOverflow, InvalidRequest, ModelFailure, RateLimited
from utils.llm.classify import classify, facts_of, matching_marker
from utils.llm.overflow import OVERFLOWS

TOO_LONG: list[tuple[str, int, Any, int | None]] = [
    (
        "anthropic input and answer",
        400,
        "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000, decrease input length or "
        "`max_tokens` and try again",
        200_000,
    ),
    (
        "gemini input token count",
        400,
        "The input token count (154364) exceeds the maximum number of tokens allowed (131072).",
        131_072,
    ),
    (
        "ollama prompt too long",
        400,
        "prompt too long; exceeded max context length by 4 tokens",
        None,
    ),
    ("vllm no room for the answer", 400, "max_tokens must be at least 1, got -186.", None),
    (
        "vllm decoder prompt",
        400,
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that …",
        8_192,
    ),
    (
        "vllm model context length",
        400,
        "You passed 9001 input tokens and requested 0 output tokens. However, the model's context length is only "
        "8192 tokens, resulting in a maximum input length of 8192 tokens.",
        8_192,
    ),
    ("vllm prompt too long", 400, "The prompt (total length 5000) is too long to fit into the model", None),
    (
        "vllm maximum context length",
        400,
        "This model's maximum context length is 40960 tokens. However, your request has 91714 input tokens. Please "
        "reduce the length of the input messages.",
        40_960,
    ),
    (
        "vllm maximum context length",
        400,
        "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens "
        "(42832 of text input).",
        32_768,
    ),
    (
        "vllm maximum context length",
        400,
        "'max_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has "
        "100 input tokens (4096 > 4096 - 100).",
        4_096,
    ),
    (
        "litellm exceeds maximum context length",
        400,
        "Input length (5000) exceeds model's maximum context length (4096).",
        4_096,
    ),
    (
        "lm studio loaded context",
        400,
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context "
        "length of only 4096 tokens, which is not enough.",
        4_096,
    ),
    (
        "lm studio tokens to keep",
        400,
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        None,
    ),
    ("lm studio context size", 400, "Context size has been exceeded.", None),
    (
        "llama.cpp available context size",
        500,
        "the request exceeds the available context size, try increasing it",
        None,
    ),
    (
        "llama.cpp available context size",
        400,
        {
            "message": "request (9001 tokens) exceeds the available context size",
            "n_prompt_tokens": 9001,
            "n_ctx": 4096,
        },
        4_096,
    ),
    (
        "llama-cpp-python context window",
        500,
        "Requested tokens (9001) exceed context window of 4096",
        4_096,
    ),
    (
        "xai prompt length",
        400,
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        131_072,
    ),
    (
        "kimi token limit",
        400,
        "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
        262_144,
    ),
    (
        "tgi inputs and new tokens",
        422,
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and "
        "1000 `max_new_tokens`",
        4_096,
    ),
    (
        "tgi inputs",
        422,
        "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000",
        1_024,
    ),
    (
        "cohere too many tokens",
        400,
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.",
        4_081,
    ),
    ("groq reduce the length", 400, "Please reduce the length of the messages or completion.", None),
    (
        "mistral too large",
        400,
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        32_768,
    ),
    ("minimax context window", 400, "invalid params, context window exceeds limit (2013)", None),
    ("databricks input length", 400, "Input length 9000 exceeds maximum allowed tokens", None),
    (
        "copilot token count",
        400,
        "prompt token count of 70000 exceeds the limit of 64000",
        64_000,
    ),
    ("dashscope range", 400, "Range of input length should be [1, 30720]", 30_720),
    ("glm prompt length", 400, "litellm.BadRequestError: Prompt exceeds max length", None),
    ("z.ai stop reason", 400, "finish_reason: model_context_window_exceeded", None),
    (
        "openrouter allowed input",
        400,
        "The request exceeds the maximum allowed input length of 65536 tokens",
        65_536,
    ),
    (
        "bedrock too many input tokens",
        400,
        "400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9000",
        8_192,
    ),
    ("bedrock input too long", 400, "Input is too long for requested model.", None),
    ("anthropic prompt too long", 413, "prompt is too long: 210000 tokens > 200000 maximum", 200_000),
    (
        "nova and openai input tokens exceed",
        400,
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 280000 tokens.",
        272_000,
    ),
    (
        "openai exceeds the context window",
        400,
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        None,
    ),
    (
        "sglang longer than context",
        400,
        "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
        40_960,
    ),
    ("kimi exceed model maximum", 400, "tokens exceed model maximum", None),
    ("litellm context window", 400, "litellm.ContextWindowExceededError: too much", None),
]

OTHERS: list[tuple[int, str, type[ModelFailure]]] = [
    (
        400,
        "Invalid schema for tool 'plan': the description may not mention the maximum context length.",
        InvalidRequest,
    ),
    (400, "Unknown parameter: 'maximum context length is'. Did you mean max_tokens?", InvalidRequest),
    (
        400,
        "rope_scaling: the model's maximum context length is 32768 tokens by its configuration.",
        ContentRefused,
    ),
    (
        400,
        "max_tokens (10000) cannot exceed 8192. Please reduce the length of max output tokens.",
        InvalidRequest,
    ),
    (400, "The context length setting is not supported by this deployment.", ContentRefused),
    (429, "Rate limit reached: too many tokens per minute.", RateLimited),
    (429, "Please reduce the length of the messages, or try again in 20s.", RateLimited),
]


def refusal(status: int, said: Any) -> openai.APIStatusError:
    body = said if isinstance(said, dict) else {"message": said}
    response: Any = httpx.Response(status, request=httpx.Request("POST", "http://model/v1/chat/completions"))
    kinds = {
        400: openai.BadRequestError,
        422: openai.UnprocessableEntityError,
        429: openai.RateLimitError,
        500: openai.InternalServerError,
    }
    return kinds.get(status, openai.APIStatusError)(body["message"], response=response, body=body)


@pytest.mark.parametrize(("row", "status", "said", "limit"), TOO_LONG)
def test_a_refusal_for_length_is_an_overflow_with_the_limit_that_it_names(
    row: str, status: int, said: Any, limit: int | None
) -> None:
    error = refusal(status, said)
    found, failure = matching_marker(facts_of(error)), classify(error)
    assert found is not None
    assert found.name == row
    assert isinstance(failure, ContextOverflow)
    assert failure.limit == limit


def test_every_sentence_has_a_quotation() -> None:
    assert {each.name for each in OVERFLOWS} == {row for row, *_ in TOO_LONG}


def test_a_text_that_is_too_long_for_one_field_is_an_overflow() -> None:
    error = refusal(400, "Invalid 'messages[0].content': string too long. Expected at most 10485760.")
    error.code = "string_above_max_length"
    assert isinstance(classify(error), ContextOverflow)


@pytest.mark.parametrize(("status", "said", "kind"), OTHERS)
def test_a_refusal_that_only_mentions_a_length_is_none(
    status: int, said: str, kind: type[ModelFailure]
) -> None:
    assert type(classify(refusal(status, said))) is kind
