"""What the double refuses, in the words and with the codes of the real services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from utils.testing.strict_provider import StrictProvider

USER = {"role": "user", "content": "hi"}
SYSTEM = {"role": "system", "content": "be brief"}


def call(call_id: str = "call_1", name: str = "search") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}


def calling(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def result(call_id: str = "call_1") -> dict[str, Any]:
    return {"role": "tool", "content": "found", "tool_call_id": call_id}


def function(name: str = "search") -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


NOT_ANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
    " The following tool_call_ids did not have response messages: "
)
NOT_ASKED = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."

OPENAI = [
    ("orphan_call", [USER, calling(call())], NOT_ANSWERED + "call_1", "messages.[2].role"),
    ("orphan_call", [USER, calling(call()), USER], NOT_ANSWERED + "call_1", "messages.[2].role"),
    (
        "orphan_call",
        [USER, calling(call("a"), call("b")), result("a"), USER],
        NOT_ANSWERED + "b",
        "messages.[3].role",
    ),
    ("orphan_call", [USER, calling(call()), USER, result()], NOT_ANSWERED + "call_1", "messages.[2].role"),
    ("orphan_result", [USER, result()], NOT_ASKED, "messages.[1].role"),
    ("orphan_result", [USER, calling(call()), result(), result()], NOT_ASKED, "messages.[3].role"),
    ("orphan_result", [USER, calling(call()), result("other")], NOT_ASKED, "messages.[2].role"),
    (
        "system_not_leading",
        [SYSTEM, USER, SYSTEM],
        "System message must be at the beginning.",
        "messages[2].role",
    ),
    (
        "empty_conversation",
        [],
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        "messages",
    ),
    (
        "content",
        [{"role": "user", "content": None}],
        "Invalid value for 'content': expected a string, got null.",
        "messages.[0].content",
    ),
    (
        "call_id",
        [USER, calling(call("x" * 41)), result("x" * 41)],
        (
            "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got "
            "a string with length 41 instead."
        ),
        "messages[1].tool_calls[0].id",
    ),
    (
        "duplicate_call_id",
        [USER, calling(call(), call()), result(), result()],
        "Duplicate item found with id call_1. Remove duplicate items from your input and try again.",
        "messages[1].tool_calls[1].id",
    ),
    (
        "undeclared_tool",
        [USER, calling(call(name="lost")), result()],
        "Tool 'lost' not found in 'tools' parameter.",
        "messages[1].tool_calls",
    ),
    (
        "tool_name",
        [USER, calling(call(name="a b")), result()],
        (
            "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern. Expected a string that "
            "matches the pattern '^[a-zA-Z0-9_-]+$'."
        ),
        "messages[1].tool_calls[0].function.name",
    ),
]


def ask_openai(double: StrictProvider, body: Mapping[str, Any]) -> httpx.Response:
    return httpx.post(
        f"{double.openai_url}/chat/completions",
        json={"model": "gpt-4o", **body},
        headers={"Authorization": "Bearer sk-double"},
        trust_env=False,
        verify=False,
    )


@pytest.mark.parametrize(("rule", "messages", "message", "param"), OPENAI)
def test_openai_refuses(double, rule, messages, message, param):
    answer = ask_openai(double, {"messages": messages, "tools": [function()]})
    error = answer.json()["error"]
    assert (answer.status_code, error["message"], error["param"]) == (400, message, param)
    assert error["type"] == "invalid_request_error"
    assert [rejected.rule for rejected in double.rejections] == [rule]
    assert double.requests == []


@pytest.mark.parametrize(
    "messages",
    [
        [SYSTEM, SYSTEM, USER],
        [USER, USER],
        [USER, calling(call("a"), call("b")), result("b"), result("a"), USER],
        [USER, calling(call()), result(), calling(call()), result()],
        [{"role": "developer", "content": "be brief"}, USER],
        [USER, {"role": "assistant", "content": "hello"}, USER],
    ],
)
def test_openai_takes_what_is_in_order(double, messages):
    assert ask_openai(double, {"messages": messages, "tools": [function()]}).status_code == 200
    assert double.rejections == []


def test_openai_takes_a_history_of_calls_without_declared_tools(double):
    messages = [USER, calling(call()), result()]
    assert ask_openai(double, {"messages": messages}).status_code == 200


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ({}, "your messages resulted in {m} tokens. Please reduce the length of the messages."),
        (
            {"max_tokens": 50},
            (
                "you requested {mc} tokens ({m} in the messages, 50 in the completion). "
                "Please reduce the length of the messages or completion."
            ),
        ),
        (
            {"tools": [function()]},
            (
                "your messages resulted in {mf} tokens ({m} in the messages, {f} in the functions). "
                "Please reduce the length of the messages or functions."
            ),
        ),
        (
            {"tools": [function()], "max_completion_tokens": 50},
            (
                "you requested {mfc} tokens ({m} in the messages, {f} in the functions, and 50 in the completion). "
                "Please reduce the length of the messages, functions, or completion."
            ),
        ),
    ],
)
def test_openai_counts_messages_functions_and_completion(double, extra, told):
    ask_openai(double, {"messages": [USER]})
    ask_openai(double, {"messages": [USER], "tools": [function()]})
    messages = double.requests[0].tokens
    functions = double.requests[1].tokens - messages
    double.window = 5
    error = ask_openai(double, {"messages": [USER], **extra}).json()["error"]
    expected = told.format(
        m=messages,
        f=functions,
        mc=messages + 50,
        mf=messages + functions,
        mfc=messages + functions + 50,
    )
    assert error["message"] == f"This model's maximum context length is 5 tokens. However, {expected}"
    assert (error["code"], error["param"]) == ("context_length_exceeded", "messages")


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ({"messages": [USER], "tools": []}, "empty_tools"),
        ({"messages": [USER], "tools": [function(), function()]}, "duplicate_tool"),
        ({"messages": [USER], "tools": [function("a b")]}, "tool_name"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "role"),
        ({"model": "", "messages": [USER]}, "model"),
        ({}, "messages"),
        ({"messages": ["text"]}, "malformed"),
        ({"messages": [USER, {"role": "assistant", "content": "x", "tool_calls": []}]}, "empty_calls"),
        (
            {
                "messages": [USER],
                "tools": [function()],
                "tool_choice": {"type": "function", "function": {"name": "lost"}},
            },
            "undeclared_tool",
        ),
    ],
)
def test_openai_refuses_a_body_out_of_shape(double, body, rule):
    assert ask_openai(double, body).status_code == 400
    assert [rejected.rule for rejected in double.rejections] == [rule]


def test_a_request_without_a_key_is_refused(double):
    answer = httpx.post(
        f"{double.openai_url}/chat/completions",
        json={"model": "m", "messages": [USER]},
        trust_env=False,
        verify=False,
    )
    assert answer.status_code == 401
    answer = httpx.post(
        f"{double.url}/model/m/converse", json={"messages": []}, trust_env=False, verify=False
    )
    assert (answer.status_code, answer.headers["x-amzn-errortype"]) == (
        403,
        "MissingAuthenticationTokenException",
    )


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks or [{"text": "hi"}])}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks or [{"text": "hello"}])}


def use(call_id: str = "tooluse_1", name: str = "search") -> dict[str, Any]:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": {}}}


def answered(call_id: str = "tooluse_1") -> dict[str, Any]:
    return {"toolResult": {"toolUseId": call_id, "content": [{"text": "found"}]}}


def spec(name: str = "search", kind: str = "object") -> dict[str, Any]:
    return {"toolSpec": {"name": name, "description": "d", "inputSchema": {"json": {"type": kind}}}}


START = "A conversation must start with a user message. Try again with a conversation that starts with a user message."
ALTERNATE = (
    "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between "
    "user and assistant roles and try again."
)

BEDROCK = [
    ("empty_conversation", [], START),
    ("first_not_user", [assistant(), user()], START),
    ("alternate", [user(), user()], ALTERNATE),
    ("alternate", [user(), assistant(), assistant(), user()], ALTERNATE),
    (
        "orphan_call",
        [user(), assistant(use("a"), use("b")), user(answered("a"))],
        "Expected toolResult blocks at messages.2.content for the following Ids: b",
    ),
    (
        "orphan_call",
        [user(), assistant(use("a"), use("b")), user()],
        "Expected toolResult blocks at messages.2.content for the following Ids: a, b",
    ),
    (
        "orphan_call",
        [user(), assistant(use())],
        "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_1",
    ),
    (
        "orphan_result",
        [user(answered())],
        "The number of toolResult blocks at messages.0.content exceeds the number of toolUse blocks of previous turn.",
    ),
    (
        "duplicate_call_id",
        [user(), assistant(use(), use()), user(answered(), answered())],
        "The toolUse blocks at messages.1.content contain duplicate Ids: tooluse_1",
    ),
    (
        "blank_text",
        [user({"text": "  "})],
        (
            "The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to the text field, and "
            "try again."
        ),
    ),
    (
        "content",
        [{"role": "user", "content": []}],
        (
            "The content field in the Message object at messages.0 is empty. Add a ContentBlock object to the content "
            "field and try again."
        ),
    ),
    (
        "prefill",
        [user(), assistant()],
        "This model does not support assistant message prefill. The conversation must end with a user message.",
    ),
    (
        "system_not_leading",
        [user(), {"role": "system", "content": [{"text": "x"}]}],
        "Unexpected role 'system'",
    ),
    ("tool_name", [user(), assistant(use("a b")), user(answered("a b"))], "1 validation error detected"),
    (
        "undeclared_tool",
        [user(), assistant(use(name="lost")), user(answered())],
        "The tool lost at messages.1.member.content.0.member.toolUse is not defined",
    ),
]


def ask_bedrock(double: StrictProvider, body: Mapping[str, Any]) -> httpx.Response:
    return httpx.post(
        f"{double.url}/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse",
        json=body,
        headers={"Authorization": "AWS4-HMAC-SHA256 Credential=x"},
        trust_env=False,
        verify=False,
    )


@pytest.mark.parametrize(("rule", "messages", "message"), BEDROCK)
def test_bedrock_refuses(double, rule, messages, message):
    answer = ask_bedrock(double, {"messages": messages, "toolConfig": {"tools": [spec()]}})
    assert (answer.status_code, answer.headers["x-amzn-errortype"]) == (400, "ValidationException")
    assert answer.json()["message"].startswith(message)
    assert [rejected.rule for rejected in double.rejections] == [rule]


def test_bedrock_takes_what_is_in_order(double):
    messages = [
        user(),
        assistant({"text": "looking"}, use("a"), use("b")),
        user(answered("b"), answered("a"), {"text": "and?"}),
        assistant(),
        user(),
    ]
    answer = ask_bedrock(double, {"messages": messages, "toolConfig": {"tools": [spec()]}})
    assert answer.status_code == 200
    assert double.requests[0].model == "anthropic.claude-3-haiku-20240307-v1:0"


def test_bedrock_needs_tools_declared_where_they_are_used(double):
    answer = ask_bedrock(double, {"messages": [user(), assistant(use()), user(answered())]})
    assert answer.json()["message"].startswith("The toolConfig field must be defined")


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ({"toolConfig": {"tools": [spec(), spec()]}}, "duplicate_tool"),
        ({"toolConfig": {"tools": [spec("a b")]}}, "tool_name"),
        ({"toolConfig": {"tools": [spec(kind="string")]}}, "schema"),
        ({"system": [{"text": " "}]}, "blank_text"),
    ],
)
def test_bedrock_refuses_tools_and_system_out_of_shape(double, body, rule):
    assert ask_bedrock(double, {"messages": [user()], **body}).status_code == 400
    assert [rejected.rule for rejected in double.rejections] == [rule]


def test_bedrock_refuses_what_is_too_long(double):
    double.window = 5
    answer = ask_bedrock(double, {"messages": [user()]})
    assert answer.json() == {"message": "Input is too long for requested model."}
