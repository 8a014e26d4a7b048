"""The Converse and ConverseStream operations on the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from utils.testing.strict.bedrock_rules import count
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
from utils.testing.strict.eventstream import event, exception

CONTENT_TYPE = b"application/vnd.amazon.eventstream"


def parse(body: Mapping[str, Any], model: str, *, stream: bool) -> ChatRequest:
    """A checked request, normalised; a turn of several results becomes several messages."""
    system = [ChatMessage("system", block["text"]) for block in body.get("system") or () if "text" in block]
    turns = [said for message in body["messages"] for said in _said(message)]
    tools = (body.get("toolConfig") or {}).get("tools") or ()
    return ChatRequest(
        api=Api.BEDROCK,
        model=model,
        messages=[*system, *turns],
        tools=[_tool(tool["toolSpec"]) for tool in tools if "toolSpec" in tool],
        stream=stream,
        max_tokens=(body.get("inferenceConfig") or {}).get("maxTokens"),
        tokens=count(body),
        body=body,
    )


def refusal_body(rejection: Rejection) -> dict[str, Any]:
    """The JSON of an error; its name stands in the header `x-amzn-ErrorType`."""
    return {"message": rejection.message}


def answer_body(request: ChatRequest, reply: Reply) -> dict[str, Any]:
    """The JSON of a complete answer."""
    text, reason = _text_and_reason(request, reply)
    blocks: list[dict[str, Any]] = [{"text": text}] if text else []
    blocks += [{"toolUse": _use(call) | {"input": call.arguments}} for call in reply.calls]
    return {
        "output": {"message": {"role": "assistant", "content": blocks}},
        "stopReason": reason,
        **_usage(request, text, reply),
    }


def events(request: ChatRequest, reply: Reply) -> Iterator[bytes]:
    """The same answer as event-stream frames."""
    text, reason = _text_and_reason(request, reply)
    yield event("messageStart", {"role": "assistant"})
    index = 0
    for piece in reply.pieces if text == reply.whole_text else [text]:
        yield event("contentBlockDelta", {"delta": {"text": piece}, "contentBlockIndex": 0})
    if text:
        yield event("contentBlockStop", {"contentBlockIndex": 0})
        index = 1
    for position, call in enumerate(reply.calls, start=index):
        last = position == index + len(reply.calls) - 1
        yield from _call_events(position, call, reply.cut if last else 0)
    yield event("messageStop", {"stopReason": reason})
    yield event("metadata", _usage(request, text, reply))


def opening(_request: ChatRequest, text: str) -> bytes:
    """The first frames of an answer that breaks off after `text`."""
    delta = {"delta": {"text": text}, "contentBlockIndex": 0}
    return event("messageStart", {"role": "assistant"}) + event("contentBlockDelta", delta)


def error_event() -> bytes:
    """An error in a stream that has begun."""
    return exception("throttlingException", "Too many tokens, please wait before trying again.")


def end() -> bytes:
    """The end of a stream."""
    return b""


def _call_events(index: int, call: Call, cut: int) -> Iterator[bytes]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    arguments = arguments[: len(arguments) - cut]
    half = len(arguments) // 2
    yield event("contentBlockStart", {"start": {"toolUse": _use(call)}, "contentBlockIndex": index})
    for part in (arguments[:half], arguments[half:]):
        delta = {"delta": {"toolUse": {"input": part}}, "contentBlockIndex": index}
        yield event("contentBlockDelta", delta)
    yield event("contentBlockStop", {"contentBlockIndex": index})


def _said(message: Mapping[str, Any]) -> Iterator[ChatMessage]:
    for block in message["content"]:
        if "toolResult" in block:
            result = block["toolResult"]
            text = "".join(_part(part) for part in result["content"])
            yield ChatMessage(
                "tool", text, call_id=result["toolUseId"], failed=result.get("status") == "error"
            )
    uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    texts = [block["text"] for block in message["content"] if "text" in block]
    if any(texts) or uses:
        calls = [Call(use["toolUseId"], use["name"], use["input"]) for use in uses]
        yield ChatMessage.of_texts(message["role"], texts, calls)


def _part(part: Mapping[str, Any]) -> str:
    return part["text"] if "text" in part else json.dumps(part.get("json"), ensure_ascii=False)


def _tool(spec: Mapping[str, Any]) -> DeclaredTool:
    return DeclaredTool(spec["name"], spec.get("description", ""), spec["inputSchema"]["json"])


def _text_and_reason(request: ChatRequest, reply: Reply) -> tuple[str, str]:
    text = reply.whole_text
    if request.max_tokens is not None and text_tokens(text) > request.max_tokens:
        return first_tokens(text, request.max_tokens), "max_tokens"
    return text, reply.reason or ("tool_use" if reply.calls else "end_turn")


def _use(call: Call) -> dict[str, Any]:
    return {"toolUseId": call.id, "name": call.name}


def _usage(request: ChatRequest, text: str, reply: Reply) -> dict[str, Any]:
    answered = text_tokens(text) + sum(text_tokens(json.dumps(dict(call.arguments))) for call in reply.calls)
    usage = {
        "inputTokens": request.tokens,
        "outputTokens": answered,
        "totalTokens": request.tokens + answered,
    }
    return {"usage": usage, "metrics": {"latencyMs": 1}}
