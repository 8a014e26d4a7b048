"""Rules of OpenAI's Chat Completions API, with its own error messages.

One rule goes beyond OpenAI: a system message after the first turn, which OpenAI takes and the chat
templates of many OpenAI-compatible servers refuse. A called tool that is not among the declared ones
is refused too, since no model can then be held to its schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from utils.testing.strict.conversation import Rejection
from utils.testing.strict.counting import openai_tokens, schema_tokens

Body = Mapping[str, Any]

ROLES = ("system", "assistant", "user", "function", "tool", "developer")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MAX_CALL_ID = 40
ORPHAN_RESULT = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with"
    " 'tool_calls'."
)


def check(body: Body, window: int) -> Rejection | None:
    """The first rule that a request breaks, or `None`."""
    rules = (_shape(body), _messages(body), _system(body), _pairs(body), _tools(body), _names(body))
    for rule in rules:
        for broken in rule:
            return broken
    return _window(body, window)


def count(body: Body) -> int:
    """Tokens of the complete request."""
    return openai_tokens(body["messages"]) + schema_tokens(body.get("tools") or ())


def _shape(body: Body) -> Iterator[Rejection]:
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield Rejection("model", "you must provide a model parameter")
    if not isinstance(body.get("messages"), list):
        yield Rejection(
            "messages",
            "Missing required parameter: 'messages'.",
            code="missing_required_parameter",
            param="messages",
        )
    elif not body["messages"]:
        yield Rejection(
            "empty_conversation",
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            code="empty_array",
            param="messages",
        )


def _messages(body: Body) -> Iterator[Rejection]:
    for index, message in enumerate(body["messages"]):
        role = message.get("role")
        if role not in ROLES:
            known = ", ".join(f"'{name}'" for name in ROLES[:-1]) + f", and '{ROLES[-1]}'"
            yield Rejection(
                "role",
                f"Invalid value: '{role}'. Supported values are: {known}.",
                code="invalid_value",
                param=f"messages[{index}].role",
            )
        if message.get("content") in (None, []) and not message.get("tool_calls"):
            yield Rejection(
                "content",
                "Invalid value for 'content': expected a string, got null.",
                param=f"messages.[{index}].content",
            )
        yield from _calls(index, message)


def _calls(index: int, message: Mapping[str, Any]) -> Iterator[Rejection]:
    if message.get("tool_calls") == []:
        yield Rejection(
            "empty_calls",
            f"Invalid 'messages[{index}].tool_calls': empty array. Expected an array with minimum length 1, "
            "but got an empty array instead.",
            code="empty_array",
            param=f"messages[{index}].tool_calls",
        )
    seen: set[str] = set()
    for position, call in enumerate(message.get("tool_calls") or ()):
        where = f"messages[{index}].tool_calls[{position}]"
        if len(call["id"]) > MAX_CALL_ID:
            yield Rejection(
                "call_id",
                f"Invalid '{where}.id': string too long. Expected a string with maximum length {MAX_CALL_ID}, "
                f"but got a string with length {len(call['id'])} instead.",
                code="string_above_max_length",
                param=f"{where}.id",
            )
        if not NAME.fullmatch(call["function"]["name"]):
            yield _bad_name(f"{where}.function.name")
        if call["id"] in seen:
            yield Rejection(
                "duplicate_call_id",
                f"Duplicate item found with id {call['id']}. Remove duplicate items from your input and try again.",
                param=f"{where}.id",
            )
        seen.add(call["id"])


def _bad_name(where: str) -> Rejection:
    return Rejection(
        "tool_name",
        f"Invalid '{where}': string does not match pattern. Expected a string that matches the pattern "
        "'^[a-zA-Z0-9_-]+$'.",
        code="invalid_value",
        param=where,
    )


def _system(body: Body) -> Iterator[Rejection]:
    talking = False
    for index, message in enumerate(body["messages"]):
        leading = message["role"] in {"system", "developer"}
        if leading and talking:
            yield Rejection(
                "system_not_leading",
                "System message must be at the beginning.",
                param=f"messages[{index}].role",
            )
        talking = talking or not leading


def _pairs(body: Body) -> Iterator[Rejection]:
    open_ids: list[str] = []
    for index, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_ids:
                yield Rejection("orphan_result", ORPHAN_RESULT, param=f"messages.[{index}].role")
                return
            open_ids.remove(message["tool_call_id"])
            continue
        if open_ids:
            yield _unanswered(open_ids, index)
            return
        open_ids = [call["id"] for call in message.get("tool_calls") or ()]
    if open_ids:
        yield _unanswered(open_ids, len(body["messages"]))


def _unanswered(ids: list[str], index: int) -> Rejection:
    return Rejection(
        "orphan_call",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(ids)}",
        param=f"messages.[{index}].role",
    )


def _tools(body: Body) -> Iterator[Rejection]:
    if body.get("tools") == []:
        yield Rejection(
            "empty_tools",
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            code="empty_array",
            param="tools",
        )
    declared: set[str] = set()
    for index, tool in enumerate(body.get("tools") or ()):
        name = tool.get("function", {}).get("name", "")
        if not NAME.fullmatch(name):
            yield _bad_name(f"tools[{index}].function.name")
        if name in declared:
            yield Rejection(
                "duplicate_tool", "Tool names must be unique.", code="invalid_value", param=f"tools[{index}]"
            )
        declared.add(name)


def _names(body: Body) -> Iterator[Rejection]:
    if not body.get("tools"):
        if body.get("tool_choice") is not None:
            yield Rejection(
                "tool_choice",
                "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
                param="tool_choice",
            )
        return
    declared = {tool["function"]["name"] for tool in body["tools"]}
    for index, message in enumerate(body["messages"]):
        for call in message.get("tool_calls") or ():
            if call["function"]["name"] not in declared:
                yield Rejection(
                    "undeclared_tool",
                    f"Tool '{call['function']['name']}' not found in 'tools' parameter.",
                    code="invalid_value",
                    param=f"messages[{index}].tool_calls",
                )
    choice = body.get("tool_choice")
    if isinstance(choice, Mapping) and choice["function"]["name"] not in declared:
        yield Rejection(
            "undeclared_tool",
            f"Tool choice '{choice['function']['name']}' not found in 'tools' parameter.",
            param="tool_choice",
        )


def _window(body: Body, window: int) -> Rejection | None:
    messages, functions = openai_tokens(body["messages"]), schema_tokens(body.get("tools") or ())
    completion = body.get("max_completion_tokens") or body.get("max_tokens") or 0
    if messages + functions + completion <= window:
        return None
    if completion:
        parts = f"{messages} in the messages, " + (f"{functions} in the functions, and " if functions else "")
        sentence = f"you requested {messages + functions + completion} tokens ({parts}{completion} in the completion)"
        shorten = "messages, functions, or completion" if functions else "messages or completion"
    else:
        sentence = f"your messages resulted in {messages + functions} tokens" + (
            f" ({messages} in the messages, {functions} in the functions)" if functions else ""
        )
        shorten = "messages or functions" if functions else "messages"
    return Rejection(
        "window",
        f"This model's maximum context length is {window} tokens. However, {sentence}."
        f" Please reduce the length of the {shorten}.",
        code="context_length_exceeded",
        param="messages",
    )
