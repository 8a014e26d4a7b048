"""Rules of Amazon Bedrock's Converse API, with its own error messages.

Blocks are checked for all that Converse checks before it calls a model, and for what Anthropic's
models add: results must answer the calls of the turn before, and a conversation ends with the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from utils.testing.strict.conversation import Rejection
from utils.testing.strict.counting import bedrock_tokens, schema_tokens

Body = Mapping[str, Any]

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CALL_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")


def check(body: Body, window: int) -> Rejection | None:
    """The first rule that a request breaks, or `None`."""
    rules = (_roles(body), _contents(body), _config(body), _pairs(body), _names(body))
    for rule in rules:
        for broken in rule:
            return broken
    if count(body) > window:
        return _refuse("window", "Input is too long for requested model.")
    return None


def count(body: Body) -> int:
    """Tokens of the complete request."""
    return bedrock_tokens(body) + schema_tokens(_specs(body))


def _refuse(rule: str, message: str) -> Rejection:
    return Rejection(rule, message, code="ValidationException")


def _specs(body: Body) -> list[Mapping[str, Any]]:
    tools = (body.get("toolConfig") or {}).get("tools") or ()
    return [tool["toolSpec"] for tool in tools if "toolSpec" in tool]


def _blocks(message: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    return [block[kind] for block in message["content"] if kind in block]


def _roles(body: Body) -> Iterator[Rejection]:
    messages = body.get("messages") or []
    if not messages or messages[0]["role"] != "user":
        yield _refuse(
            "empty_conversation" if not messages else "first_not_user",
            "A conversation must start with a user message. Try again with a conversation that starts with a "
            "user message.",
        )
    for before, after in pairwise(messages):
        if after["role"] not in {"user", "assistant"}:
            yield _refuse("system_not_leading", f"Unexpected role {after['role']!r} in messages.")
        if before["role"] == after["role"]:
            yield _refuse(
                "alternate",
                "A conversation must alternate between user and assistant roles. Make sure the conversation "
                "alternates between user and assistant roles and try again.",
            )


def _contents(body: Body) -> Iterator[Rejection]:
    for index, block in enumerate(body.get("system") or ()):
        if "text" in block and not block["text"].strip():
            yield _blank(f"system.{index}")
    for index, message in enumerate(body["messages"]):
        if not message["content"]:
            yield _refuse(
                "content",
                f"The content field in the Message object at messages.{index} is empty. Add a ContentBlock "
                "object to the content field and try again.",
            )
        for position, block in enumerate(message["content"]):
            if "text" in block and not block["text"].strip():
                yield _blank(f"messages.{index}.content.{position}")


def _blank(where: str) -> Rejection:
    return _refuse(
        "blank_text",
        f"The text field in the ContentBlock object at {where} is blank. Add text to the text field, and try again.",
    )


def _config(body: Body) -> Iterator[Rejection]:
    used = any(_blocks(message, kind) for message in body["messages"] for kind in ("toolUse", "toolResult"))
    if used and not body.get("toolConfig"):
        yield _refuse(
            "tool_config",
            "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
        )
    declared: dict[str, int] = {}
    for index, spec in enumerate(_specs(body)):
        where = f"toolConfig.tools.{index}"
        if not NAME.fullmatch(spec["name"]):
            yield _pattern(spec["name"], f"{where}.member.toolSpec.name", "[a-zA-Z0-9_-]+")
        if spec["name"] in declared:
            yield _refuse(
                "duplicate_tool",
                f"The tool {spec['name']} is already defined at toolConfig.tools.{declared[spec['name']]}.",
            )
        if spec["inputSchema"].get("json", {}).get("type") != "object":
            yield _refuse(
                "schema",
                f"The value at {where}.toolSpec.inputSchema.json.type must be one of the following: object.",
            )
        declared[spec["name"]] = index


def _pattern(value: str, where: str, pattern: str) -> Rejection:
    return _refuse(
        "tool_name",
        f"1 validation error detected: Value '{value}' at '{where}' failed to satisfy constraint: "
        f"Member must satisfy regular expression pattern: {pattern}",
    )


def _pairs(body: Body) -> Iterator[Rejection]:
    messages = body["messages"]
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        given = [result["toolUseId"] for result in _blocks(message, "toolResult")]
        yield from _answers(index, open_calls, given)
        open_calls = [use["toolUseId"] for use in _blocks(message, "toolUse")]
        if len(set(open_calls)) < len(open_calls):
            twice = ", ".join(sorted({name for name in open_calls if open_calls.count(name) > 1}))
            yield _refuse(
                "duplicate_call_id",
                f"The toolUse blocks at messages.{index}.content contain duplicate Ids: {twice}",
            )
    yield from _answers(len(messages), open_calls, [])
    if messages[-1]["role"] != "user":
        yield _refuse(
            "prefill",
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        )


def _answers(index: int, open_calls: list[str], given: list[str]) -> Iterator[Rejection]:
    missing = [name for name in open_calls if name not in given]
    if missing:
        yield _refuse(
            "orphan_call",
            f"Expected toolResult blocks at messages.{index}.content for the following Ids: {', '.join(missing)}",
        )
    if len(given) > len(open_calls):
        yield _refuse(
            "orphan_result",
            f"The number of toolResult blocks at messages.{index}.content exceeds the number of toolUse "
            "blocks of previous turn.",
        )


def _names(body: Body) -> Iterator[Rejection]:
    declared = {spec["name"] for spec in _specs(body)}
    for index, message in enumerate(body["messages"]):
        for position, use in enumerate(_blocks(message, "toolUse")):
            where = f"messages.{index}.member.content.{position}.member.toolUse"
            if not NAME.fullmatch(use["name"]):
                yield _pattern(use["name"], f"{where}.name", "[a-zA-Z0-9_-]+")
            if not CALL_ID.fullmatch(use["toolUseId"]):
                yield _pattern(use["toolUseId"], f"{where}.toolUseId", "[a-zA-Z0-9_.:-]+")
            if use["name"] not in declared:
                yield _refuse(
                    "undeclared_tool",
                    f"The tool {use['name']} at {where} is not defined in toolConfig.tools.",
                )
