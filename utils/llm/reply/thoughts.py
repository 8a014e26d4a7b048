"""Separates a model's reasoning from its answer, whether the server returns it as text or in a field of its own. Pure.

Reasoning models begin with `<think>…</think>` or another pair of `_PAIRS`. If the chat template writes the opening
tag, the text has the closing tag only.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage

_PAIRS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "[think]": "[/think]",  # Magistral
    "◁think▷": "◁/think▷",  # Kimi
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|channel|>analysis<|message|>": "<|end|>",  # gpt-oss
    "<|start|>assistant<|channel|>analysis<|message|>": "<|end|>",
}
"""Opening and closing tag, in lower case."""

_OPEN = re.compile(rf"\s*({'|'.join(map(re.escape, _PAIRS))})", re.IGNORECASE)
_LONE_CLOSE = re.compile(r"</think(?:ing)?>[ \t]*(?=\n|\Z)|\[/THINK\]", re.IGNORECASE)
_FINAL = re.compile(r"\s*(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>")
_FINAL_END = re.compile(r"<\|(?:return|end)\|>\s*\Z")
_FINAL_TAGS = ("<|start|>assistant<|channel|>final<|message|>", "<|channel|>final<|message|>")

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Fields in which OpenAI-compatible servers return reasoning: DeepSeek, vLLM, llama.cpp; Ollama, OpenRouter."""


class SplitReply(NamedTuple):
    """A model's reasoning, and its answer."""

    thoughts: str
    answer: str


def split_thoughts(text: str) -> SplitReply:
    """The reasoning at the beginning of a text, and the answer after it. Without reasoning the text is the answer.

    If the reasoning does not end, there is no answer.
    """
    spoken = opening_thoughts(text)
    if spoken is None:
        return SplitReply(text, "")
    if spoken.thoughts:
        return spoken
    return after_lone_close(text) or spoken


def opening_thoughts(text: str) -> SplitReply | None:
    """The text split after the reasoning at its beginning; `None` while that has not ended."""
    thoughts, rest = "", text
    while opened := _OPEN.match(rest):
        end = re.compile(re.escape(_PAIRS[opened[1].lower()]), re.IGNORECASE).search(rest, opened.end())
        if end is None:
            return None
        thoughts += rest[opened.end() : end.start()]
        rest = rest[end.end() :]
    if final := _FINAL.match(rest):
        return SplitReply(thoughts, _FINAL_END.sub("", rest[final.end() :]))
    return SplitReply(thoughts, rest.lstrip()) if rest is not text else SplitReply("", text)


def unfinished_thoughts(text: str) -> str:
    """The reasoning so far of a text whose reasoning has not ended, without what may be part of the closing tag."""
    thoughts, rest = "", text
    while opened := _OPEN.match(rest):
        closing = _PAIRS[opened[1].lower()]
        end = re.compile(re.escape(closing), re.IGNORECASE).search(rest, opened.end())
        if end is None:
            return thoughts + rest[opened.end() : max(opened.end(), len(rest) - len(closing))]
        thoughts += rest[opened.end() : end.start()]
        rest = rest[end.end() :]
    return thoughts


def after_lone_close(text: str, start: int = 0) -> SplitReply | None:
    """The text split at a closing tag without an opening one, at a line's end after `start`; `None` if there is none."""
    closed = _LONE_CLOSE.search(text, start)
    if closed is None or any(tag in text[: closed.start()].lower() for tag in _PAIRS):
        return None
    return SplitReply(text[: closed.start()], text[closed.end() :].lstrip())


def may_open_thought(text: str) -> bool:
    """Whether a partial text can still become an opening tag, or the tag of the final channel."""
    begun = text.lstrip().lower()
    return any(tag.startswith(begun) for tag in (*_PAIRS, *_FINAL_TAGS))


def reasoning_of(message: BaseMessage) -> str:
    """The reasoning that a server returned apart from the answer: in a field of the message or in a content block."""
    fields = [message.additional_kwargs.get(field) for field in REASONING_FIELDS]
    texts = [field for field in fields if isinstance(field, str)][:1]
    blocks = message.content if isinstance(message.content, list) else []
    return "".join([*texts, *map(_block_reasoning, blocks)])


def _block_reasoning(block: Any) -> str:
    if not isinstance(block, dict):
        return ""
    for key in ("thinking", "reasoning", "reasoning_content"):  # Anthropic, LangChain, Bedrock
        inner = block.get(key)
        if isinstance(inner, dict):
            inner = inner.get("text")
        if isinstance(inner, str):
            return inner
    summary = block.get("summary") if block.get("type") == "reasoning" else None  # OpenAI's Responses API
    return "".join(str(each.get("text", "")) for each in summary or () if isinstance(each, dict))
