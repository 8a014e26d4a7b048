"""Rules of Anthropic's Messages API, with its own error messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from utils.testing.strict.conversation import Rejection
from utils.testing.strict.counting import schema_tokens, text_tokens

Body = Mapping[str, Any]
Blocks = list[Mapping[str, Any]]

NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
SIGNATURE = "EqQBdouble"
"""Signature of the double's own thinking blocks, which must come back as they were."""


def check(body: Body, window: int) -> Rejection | None:
    """The first rule that a request breaks, or `None`."""
    for rule in (_fields(body), _contents(body), _tools(body), _pairs(body)):
        for broken in rule:
            return broken
    tokens = count(body)
    if tokens > window:
        return _refuse("window", f"prompt is too long: {tokens} tokens > {window} maximum")
    return None


def count(body: Body) -> int:
    """Tokens of the complete request."""
    system = sum(text_tokens(block.get("text", "")) for block in blocks(body.get("system") or ""))
    turns = sum(3 + sum(map(_tokens, blocks(message["content"]))) for message in body["messages"])
    return 3 + system + turns + schema_tokens(body.get("tools") or ())


def blocks(content: Any) -> Blocks:
    """The blocks of a content, which may be one text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content)


def _tokens(block: Mapping[str, Any]) -> int:
    kind = block["type"]
    if kind == "text":
        return text_tokens(block["text"])
    if kind == "tool_result":
        return 3 + sum(map(_tokens, blocks(block.get("content") or "")))
    if kind == "tool_use":
        return text_tokens(block["name"]) + text_tokens(json.dumps(block["input"], ensure_ascii=False))
    return text_tokens(block.get("thinking", ""))


def _refuse(rule: str, message: str) -> Rejection:
    return Rejection(rule, message)


def _fields(body: Body) -> Iterator[Rejection]:
    for field in ("model", "max_tokens", "messages"):
        if not body.get(field):
            yield _refuse("field", f"{field}: Field required")
    thinks = (body.get("thinking") or {}).get("type") in {"enabled", "adaptive"}
    if thinks and (body.get("tool_choice") or {}).get("type") in {"any", "tool"}:
        yield _refuse("tool_choice", "Thinking may not be enabled when tool_choice forces tool use.")
    messages = body["messages"]
    if messages[0]["role"] != "user":
        yield _refuse("first_not_user", 'messages: first message must use the "user" role')
    if messages[-1]["role"] != "user":
        yield _refuse(
            "prefill",
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        )
    for message in messages:
        if message["role"] not in {"user", "assistant"}:
            yield _refuse("system_not_leading", f'messages: Unexpected role "{message["role"]}".')


def _contents(body: Body) -> Iterator[Rejection]:
    for index, message in enumerate(body["messages"]):
        if not blocks(message["content"]):
            yield _refuse("content", f"messages.{index}: all messages must have non-empty content")
        for block in blocks(message["content"]):
            if block["type"] == "text" and not block["text"].strip():
                yield _refuse("blank_text", "messages: text content blocks must contain non-whitespace text")
            if block["type"] == "thinking" and block.get("signature") != SIGNATURE:
                yield _refuse("signature", f"messages.{index}: Invalid `signature` in `thinking` block")
    for block in blocks(body.get("system") or ""):
        if not block["text"].strip():
            yield _refuse("blank_text", "system: text content blocks must contain non-whitespace text")


def _tools(body: Body) -> Iterator[Rejection]:
    tools = body.get("tools") or ()
    names = [tool["name"] for tool in tools]
    if len(set(names)) < len(names):
        yield _refuse("duplicate_tool", "tools: Tool names must be unique.")
    for index, tool in enumerate(tools):
        if not NAME.fullmatch(tool["name"]):
            yield _refuse(
                "tool_name",
                f"tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'",
            )
        if tool["input_schema"].get("type") != "object":
            yield _refuse("schema", f"tools.{index}.custom.input_schema.type: Input should be 'object'")
        if not all(KEY.fullmatch(key) for key in tool["input_schema"].get("properties") or ()):
            yield _refuse(
                "schema",
                f"tools.{index}.custom.input_schema.properties: Property keys should match pattern"
                " '^[a-zA-Z0-9_.-]{1,64}$'",
            )
    used = any(
        block["type"] in {"tool_use", "tool_result"}
        for each in body["messages"]
        for block in blocks(each["content"])
    )
    if used and not tools:
        yield _refuse(
            "tool_config", "Requests which include `tool_use` or `tool_result` blocks must define tools"
        )


def _pairs(body: Body) -> Iterator[Rejection]:
    open_calls: list[str] = []
    for index, message in enumerate(body["messages"]):
        content = blocks(message["content"])
        given = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        if missing := [name for name in open_calls if name not in given]:
            yield _refuse(
                "orphan_call",
                f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
            )
        if unknown := [name for name in given if name not in open_calls]:
            yield _refuse(
                "orphan_result",
                f"messages.{index}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {', '.join(unknown)}. "
                "Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
            )
        open_calls = [block["id"] for block in content if block["type"] == "tool_use"]
        if len(set(open_calls)) < len(open_calls):
            yield _refuse("duplicate_call_id", "messages: `tool_use` ids must be unique")
        for name in open_calls:
            if not CALL_ID.fullmatch(name):
                yield _refuse(
                    "tool_name", "messages: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
                )
