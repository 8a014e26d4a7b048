"""Rules of OpenAI's Responses API for a reasoning model whose answers are not stored, with its own error messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from utils.testing.strict.conversation import Rejection
from utils.testing.strict.counting import schema_tokens, text_tokens
from utils.testing.strict.openai_rules import NAME

Body = Mapping[str, Any]

_CHAT_ONLY = (
    "messages",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "n",
    "stream_options",
    "response_format",
)
_SAMPLING = ("temperature", "top_p")
_PARTS = {
    "user": {"input_text", "input_image", "input_file"},
    "system": {"input_text"},
    "developer": {"input_text"},
    "assistant": {"output_text", "refusal"},
}
_LEAST_OUTPUT = 16


def check(body: Body, window: int) -> Rejection | None:
    """The first rule that a request breaks, or `None`."""
    for rule in (_parameters(body), _items(body), _pairs(body), _reasoning(body), _tools(body)):
        for broken in rule:
            return broken
    tokens = count(body) + int(body.get("max_output_tokens") or 0)
    if tokens <= window:
        return None
    message = "Your input exceeds the context window of this model. Please adjust your input and try again."
    return Rejection("window", message, code="context_length_exceeded", param="input")


def count(body: Body) -> int:
    """Tokens of the complete request."""
    tokens = sum(4 + text_tokens(text_of(item)) for item in body["input"])
    return tokens + schema_tokens(
        [{"type": "function", "function": tool} for tool in body.get("tools") or ()]
    )


def text_of(item: Body) -> str:
    """All that an item says."""
    content = item.get("content")
    parts: Sequence[Any] = content if isinstance(content, list) else [{"text": content or ""}]
    texts = [str(part.get("text") or "") for part in parts]
    return "".join([*texts, str(item.get("output") or ""), str(item.get("arguments") or "")])


def kind_of(item: Body) -> str:
    """The type of an item: a message may leave it out."""
    return str(item.get("type") or "message")


def _parameters(body: Body) -> Iterator[Rejection]:
    for name in _CHAT_ONLY:
        if name in body:
            yield Rejection("chat_only", f"Unsupported parameter: '{name}'.", param=name)
    for name in _SAMPLING:
        if body.get(name) is not None:
            message = f"Unsupported parameter: '{name}' is not supported with this model."
            yield Rejection("sampling", message, param=name)
    if not isinstance(body.get("input"), list) or not body["input"]:
        yield Rejection("input", "Missing required parameter: 'input'.", param="input")
    if (most := body.get("max_output_tokens")) is not None and most < _LEAST_OUTPUT:
        message = f"Invalid 'max_output_tokens': integer below minimum value. Expected a value >= {_LEAST_OUTPUT}, but got {most} instead."
        yield Rejection("least_output", message, param="max_output_tokens")


def _items(body: Body) -> Iterator[Rejection]:
    for index, item in enumerate(body["input"]):
        kind = kind_of(item)
        if kind == "message":
            allowed = _PARTS.get(item.get("role", ""))
            content = item.get("content")
            parts = content if isinstance(content, list) else []
            if allowed is None or any(part.get("type") not in allowed for part in parts):
                message = (
                    f"Invalid value in 'input[{index}]'. Supported values are: {sorted(allowed or _PARTS)}."
                )
                yield Rejection("part", message, param=f"input[{index}]")
        elif kind == "function_call":
            try:
                json.loads(item["arguments"])
            except (ValueError, KeyError, TypeError):
                yield Rejection("arguments", f"Invalid 'input[{index}].arguments'.", param=f"input[{index}]")
        elif kind not in {"function_call_output", "reasoning"}:
            yield Rejection("item", f"Invalid value: '{kind}'.", param=f"input[{index}].type")


def _pairs(body: Body) -> Iterator[Rejection]:
    called = [item["call_id"] for item in body["input"] if kind_of(item) == "function_call"]
    answered = [item["call_id"] for item in body["input"] if kind_of(item) == "function_call_output"]
    for call_id in answered:
        if call_id not in called:
            yield Rejection("orphan", f"No tool call found for function call output with call_id {call_id}.")
    for call_id in called:
        if answered.count(call_id) != 1:
            yield Rejection("unanswered", f"No tool output found for function call {call_id}.")


def _reasoning(body: Body) -> Iterator[Rejection]:
    items = body["input"]
    for index, item in enumerate(items):
        before = kind_of(items[index - 1]) if index else ""
        after = items[index + 1] if index + 1 < len(items) else {}
        if kind_of(item) == "reasoning":
            if not body.get("store", True) and not item.get("encrypted_content"):
                message = f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false."
                yield Rejection("not_stored", message, status=404, param="input")
            if kind_of(after) != "function_call" and after.get("role") != "assistant":
                message = f"Item '{item.get('id')}' of type 'reasoning' was provided without its required following item."
                yield Rejection("reasoning_alone", message, param="input")
        elif (
            kind_of(item) == "function_call"
            and item.get("id")
            and before not in {"reasoning", "function_call", "message"}
        ):
            message = f"Item '{item['id']}' of type 'function_call' was provided without its required 'reasoning' item."
            yield Rejection("without_reasoning", message, param="input")


def _tools(body: Body) -> Iterator[Rejection]:
    for index, tool in enumerate(body.get("tools") or ()):
        if tool.get("type") == "function" and not NAME.fullmatch(str(tool.get("name") or "")):
            yield Rejection(
                "tool", f"Missing required parameter: 'tools[{index}].name'.", param=f"tools[{index}].name"
            )
