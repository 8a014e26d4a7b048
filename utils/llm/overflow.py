"""How providers and servers word that a request exceeds the model's window, and which limit they name. Pure.

Each pattern matches the part of a sentence that says so, not a word that another refusal may contain as well. All of
them are matched against lower-case text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_N = r"(\d[\d,]*)"


class Overflow(NamedTuple):
    """One sentence of one provider.

    Attributes:
        name: The provider and the sentence; also the ID of its test.
        pattern: The sentence's pattern.
    """

    name: str
    pattern: re.Pattern[str]


def _says(name: str, pattern: str) -> Overflow:
    return Overflow(name, re.compile(pattern))


OVERFLOWS: tuple[Overflow, ...] = (
    # "However, you requested 9,000 tokens", "your request has 9,000 input tokens", "your messages resulted in …"
    _says(
        "vllm maximum context length",
        r"maximum context length (?:is|of) [\d,]+(?: tokens?)?\W{1,20}(?:(?:however|but|and)\W{1,20})?"
        r"(?:you|your|the|it|this)?\b.{0,60}?(?:request|result|input|prompt|messages)",
    ),
    _says("litellm exceeds maximum context length", r"exceed(?:s|ed)? .{0,40}maximum context length"),
    _says("vllm model context length", r"model's context length is only \d+"),
    _says("vllm prompt too long", r"too long to fit into the model"),
    _says("vllm decoder prompt", r"is longer than the maximum model length"),
    _says("vllm no room for the answer", r"max_tokens must be at least 1, got -"),
    _says("bedrock input too long", r"input is too long"),
    _says("anthropic prompt too long", r"prompt is too long"),
    _says("anthropic input and answer", r"exceed context limit"),
    _says("nova and openai input tokens exceed", r"input tokens exceed"),
    _says("openai exceeds the context window", r"exceeds the (?:model's )?context window"),
    _says("bedrock too many input tokens", r"too many input tokens"),
    _says("sglang longer than context", r"longer than the model's context length"),
    _says("gemini input token count", r"input token count .{0,40}exceeds the maximum number of tokens"),
    _says("ollama prompt too long", r"prompt too long; exceeded (?:max )?context length"),
    _says("lm studio loaded context", r"context length of only \d+"),
    _says("lm studio tokens to keep", r"greater than the context length"),
    _says("lm studio context size", r"context size has been exceeded"),
    _says("llama.cpp available context size", r"exceeds? the available context size"),
    _says("llama-cpp-python context window", r"exceeds? context window of \d+"),
    _says("xai prompt length", r"maximum prompt length is \d+"),
    _says("kimi exceed model maximum", r"exceed model maximum"),
    _says("kimi token limit", r"exceeded model token limit"),
    _says("tgi inputs and new tokens", r"`inputs` tokens \+ `max_new_tokens` must be <="),
    _says("tgi inputs", r"`inputs` must have less than \d+ tokens"),
    _says("cohere too many tokens", r"too many tokens\b.{0,80}\b(?:cannot|must not) exceed"),
    _says("groq reduce the length", r"reduce the length of the messages"),
    _says("mistral too large", r"too large for model with \d+ maximum context length"),
    _says("minimax context window", r"context window exceeds limit"),
    _says(
        "databricks input length",
        r"input (?:length|tokens?) .{0,40}exceeds? (?:the )?(?:model's )?(?:maximum|max) ",
    ),
    _says("copilot token count", r"prompt token count of \d+ exceeds the limit of \d+"),
    _says("dashscope range", r"range of input length should be"),
    _says("glm prompt length", r"prompt exceeds max(?:imum)? length"),
    _says("z.ai stop reason", r"model_context_window_exceeded"),
    _says("openrouter allowed input", r"exceeds (?:the )?maximum allowed input length"),
    _says("litellm context window", r"contextwindowexceedederror"),
)
"""The sentences."""

_LIMITS = (
    re.compile(rf"maximum context length (?:is|of) {_N}"),
    re.compile(rf"configured limit of {_N}"),
    re.compile(rf"tokens > {_N} maximum"),
    re.compile(rf"exceed context limit: [\d,]+ \+ [\d,]+ > {_N}"),
    re.compile(rf"available context size \({_N} tokens"),
    re.compile(rf"context length (?:is only |of only |\(){_N}"),
    re.compile(rf"model length of {_N}"),
    re.compile(rf"number of tokens allowed \({_N}"),
    re.compile(rf"max input tokens: {_N}"),
    re.compile(rf"with {_N} maximum context length"),
    re.compile(rf"context window of {_N}"),
    re.compile(rf"prompt length is {_N}"),
    re.compile(rf"token limit: {_N}"),
    re.compile(rf"`max_new_tokens` must be <= {_N}"),
    re.compile(rf"must have less than {_N} tokens"),
    re.compile(rf"cannot exceed {_N}"),
    re.compile(rf"exceeds the limit of {_N}"),
    re.compile(rf"input length should be \[\d+, ?{_N}\]"),
    re.compile(rf"allowed input length of {_N}"),
    re.compile(rf"[\"']?n_ctx[\"']?: ?{_N}"),
    re.compile(rf"\(tpm\): limit {_N}"),
)


def limit_in(text: str) -> int | None:
    """The limit that a refusal names, in tokens; `None` if it names none."""
    found = next((match for pattern in _LIMITS if (match := pattern.search(text))), None)
    return int(found[1].replace(",", "")) if found else None
