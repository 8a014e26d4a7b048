"""Anthropic's Messages API on the wire: complete answers and server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from utils.testing.strict.anthropic_rules import blocks, count
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

CONTENT_TYPE = b"text/event-stream; charset=utf-8"

_KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
    529: "overloaded_error",
}


def parse(body: Mapping[str, Any]) -> ChatRequest:
    """A checked request, normalised; a turn of several results becomes several messages."""
    system = [ChatMessage("system", block["text"]) for block in blocks(body.get("system") or "")]
    return ChatRequest(
        api=Api.ANTHROPIC,
        model=body["model"],
        messages=[*system, *(said for message in body["messages"] for said in _said(message))],
        tools=[
            DeclaredTool(tool["name"], tool.get("description", ""), tool["input_schema"])
            for tool in body.get("tools") or ()
        ],
        stream=bool(body.get("stream")),
        max_tokens=body["max_tokens"],
        tokens=count(body),
        body=body,
    )


def refusal_body(rejection: Rejection) -> dict[str, Any]:
    """The JSON of an error."""
    kind = _KINDS.get(rejection.status, "invalid_request_error")
    return {
        "type": "error",
        "error": {"type": kind, "message": rejection.message},
        "request_id": "req_double",
    }


def answer_body(request: ChatRequest, reply: Reply) -> dict[str, Any]:
    """The JSON of a complete answer."""
    text, reason = _text_and_reason(request, reply)
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in reply.calls
    ]
    return _head(request) | {"content": content, "stop_reason": reason, "usage": _usage(request, text, reply)}


def events(request: ChatRequest, reply: Reply) -> Iterator[bytes]:
    """The same answer as server-sent events."""
    text, reason = _text_and_reason(request, reply)
    usage = _usage(request, text, reply)
    yield event("message_start", message=_head(request) | {"usage": usage | {"output_tokens": 1}})
    index = 0
    if text:
        yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        yield event("ping")
        for piece in reply.pieces if text == reply.whole_text else [text]:
            yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
        yield event("content_block_stop", index=0)
        index = 1
    for position, call in enumerate(reply.calls):
        cut = reply.cut if position == len(reply.calls) - 1 else 0
        yield from _call_events(index + position, call, cut)
    yield event(
        "message_delta",
        delta={"stop_reason": reason, "stop_sequence": None},
        usage=usage,
    )
    yield event("message_stop")


def opening(request: ChatRequest, text: str) -> bytes:
    """The first events of an answer that breaks off after `text`."""
    begun = event(
        "message_start", message=_head(request) | {"usage": {"input_tokens": 9, "output_tokens": 1}}
    )
    begun += event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    return begun + event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})


def error_event() -> bytes:
    """An error in a stream that has begun."""
    return event("error", error={"type": "overloaded_error", "message": "Overloaded"})


def end() -> bytes:
    """The end of a stream."""
    return b""


def event(kind: str, **fields: Any) -> bytes:
    """One server-sent event."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields}, ensure_ascii=False)}\n\n".encode()


def _call_events(index: int, call: Call, cut: int) -> Iterator[bytes]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    arguments = arguments[: len(arguments) - cut]
    half = len(arguments) // 2
    yield event(
        "content_block_start",
        index=index,
        content_block={"type": "tool_use", "id": call.id, "name": call.name, "input": {}},
    )
    for part in (arguments[:half], arguments[half:]):
        yield event(
            "content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": part}
        )
    yield event("content_block_stop", index=index)


def _said(message: Mapping[str, Any]) -> Iterator[ChatMessage]:
    content = blocks(message["content"])
    for block in content:
        if block["type"] == "tool_result":
            text = "".join(each.get("text", "") for each in blocks(block.get("content") or ""))
            yield ChatMessage("tool", text, call_id=block["tool_use_id"], failed=bool(block.get("is_error")))
    calls = [
        Call(block["id"], block["name"], block["input"]) for block in content if block["type"] == "tool_use"
    ]
    texts = [block["text"] for block in content if block["type"] == "text"]
    if any(texts) or calls:
        yield ChatMessage.of_texts(message["role"], texts, calls)


def _head(request: ChatRequest) -> dict[str, Any]:
    return {
        "id": "msg_double",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _text_and_reason(request: ChatRequest, reply: Reply) -> tuple[str, str]:
    text = reply.whole_text
    if request.max_tokens is not None and text_tokens(text) > request.max_tokens:
        return first_tokens(text, request.max_tokens), "max_tokens"
    return text, reply.reason or ("tool_use" if reply.calls else "end_turn")


def _usage(request: ChatRequest, text: str, reply: Reply) -> dict[str, Any]:
    answered = text_tokens(text) + sum(text_tokens(json.dumps(dict(call.arguments))) for call in reply.calls)
    prompt = round(request.tokens * reply.prompt_share)
    return {
        "input_tokens": prompt,
        "output_tokens": answered,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
    }
