"""The Chat Completions API on the wire: requests in, completions and server-sent events out."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from utils.testing.strict.conversation import (
    Api,
    Call,
    ChatMessage,
    ChatRequest,
    DeclaredTool,
    Rejection,
    Reply,
)
from utils.testing.strict.counting import first_tokens, text_tokens
from utils.testing.strict.openai_rules import count

CONTENT_TYPE = b"text/event-stream; charset=utf-8"


def parse(body: Mapping[str, Any]) -> ChatRequest:
    """A checked request, normalised."""
    return ChatRequest(
        api=Api.OPENAI,
        model=body["model"],
        messages=[_said(message) for message in body["messages"]],
        tools=[_tool(tool["function"]) for tool in body.get("tools") or ()],
        stream=bool(body.get("stream")),
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
        tokens=count(body),
        body=body,
    )


def refusal_body(rejection: Rejection) -> dict[str, Any]:
    """The JSON of an error."""
    return {
        "error": {
            "message": rejection.message,
            "type": rejection.kind,
            "param": rejection.param,
            "code": rejection.code,
        }
    }


def answer_body(request: ChatRequest, reply: Reply) -> dict[str, Any]:
    """The JSON of a complete answer."""
    text, reason = _text_and_reason(request, reply)
    message: dict[str, Any] = {"role": "assistant", "content": text or None, "refusal": None}
    if reply.calls:
        message["tool_calls"] = _calls(reply)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    return _head(request, "chat.completion") | {"choices": [choice], "usage": _usage(request, text, reply)}


def events(request: ChatRequest, reply: Reply) -> Iterator[bytes]:
    """The same answer as server-sent events."""
    head = _head(request, "chat.completion.chunk")
    text, reason = _text_and_reason(request, reply)
    if reply.usage_in_each_chunk:
        head["usage"] = _usage(request, text, reply)
    yield _event(head, {"role": "assistant", "content": ""})
    for piece in reply.pieces if text == reply.whole_text else [text]:
        yield _event(head, {"content": piece})
    for index, made in enumerate(_calls(reply)):
        arguments = made["function"]["arguments"]
        opened = made | {"index": index, "function": {"name": made["function"]["name"], "arguments": ""}}
        yield _event(head, {"tool_calls": [opened]})
        half = len(arguments) // 2
        for part in (arguments[:half], arguments[half:]):
            yield _event(head, {"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    yield _event(head, {}, reason)
    if (request.body.get("stream_options") or {}).get("include_usage"):
        yield _line(head | {"choices": [], "usage": _usage(request, text, reply)})
    yield b"data: [DONE]\n\n"


def opening(request: ChatRequest, text: str) -> bytes:
    """The first events of an answer that breaks off after `text`."""
    head = _head(request, "chat.completion.chunk")
    return _event(head, {"role": "assistant", "content": ""}) + _event(head, {"content": text})


def error_event() -> bytes:
    """An error in a stream that has begun."""
    failed = Rejection(
        "error_event",
        "The server had an error while processing your request. Sorry about that!",
        kind="server_error",
    )
    return _line(refusal_body(failed))


def end() -> bytes:
    """The end of a stream."""
    return b"data: [DONE]\n\n"


def _said(message: Mapping[str, Any]) -> ChatMessage:
    role = "system" if message["role"] == "developer" else message["role"]
    calls = [
        Call(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"] or "{}"))
        for call in message.get("tool_calls") or ()
    ]
    texts = _texts(message.get("content"))
    if role == "tool":
        return ChatMessage(role, "".join(texts), calls, message.get("tool_call_id"))
    return ChatMessage.of_texts(role, texts, calls)


def _texts(content: object) -> list[str]:
    if isinstance(content, list):
        return [str(part["text"]) for part in content if part.get("text")]
    return [str(content or "")]


def _tool(function: Mapping[str, Any]) -> DeclaredTool:
    return DeclaredTool(function["name"], function.get("description", ""), function.get("parameters") or {})


def _head(request: ChatRequest, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": request.model,
        "system_fingerprint": "fp_double",
    }


def _text_and_reason(request: ChatRequest, reply: Reply) -> tuple[str, str | None]:
    text = reply.whole_text
    if request.max_tokens is not None and text_tokens(text) > request.max_tokens:
        return first_tokens(text, request.max_tokens), "length"
    if reply.reason is not None:
        return text, reply.reason or None
    return text, "tool_calls" if reply.calls else "stop"


def _calls(reply: Reply) -> list[dict[str, Any]]:
    calls = [_call(call) for call in reply.calls]
    if calls and reply.cut:
        calls[-1]["function"]["arguments"] = calls[-1]["function"]["arguments"][: -reply.cut]
    return calls


def _call(call: Call) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    return {"id": call.id, "type": "function", "function": function}


def _usage(request: ChatRequest, text: str, reply: Reply) -> dict[str, Any]:
    answered = text_tokens(text) + sum(text_tokens(json.dumps(_call(call))) for call in reply.calls)
    prompt = round(request.tokens * reply.prompt_share)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answered,
        "total_tokens": prompt + answered,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def _event(head: Mapping[str, Any], delta: Mapping[str, Any], reason: str | None = None) -> bytes:
    choices: Sequence[Mapping[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": reason}]
    return _line({**head, "choices": choices})


def _line(value: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"
