"""Gemini's generateContent and streamGenerateContent on the wire."""

from __future__ import annotations

import json
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
from utils.testing.strict.gemini_rules import SIGNATURE, count, declarations

CONTENT_TYPE = b"text/event-stream"

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


def parse(body: Mapping[str, Any], model: str, *, stream: bool) -> ChatRequest:
    """A checked request, normalised. Calls have no ids here: they get their position."""
    system = "".join(
        part.get("text", "") for part in (body.get("systemInstruction") or {}).get("parts") or ()
    )
    turns = [said for index, content in enumerate(body["contents"]) for said in _said(index, content)]
    return ChatRequest(
        api=Api.GEMINI,
        model=model,
        messages=[*([ChatMessage("system", system)] if system else ()), *turns],
        tools=[
            DeclaredTool(
                each["name"],
                each.get("description", ""),
                each.get("parameters") or each.get("parametersJsonSchema") or {},
            )
            for each in declarations(body)
        ],
        stream=stream,
        max_tokens=(body.get("generationConfig") or {}).get("maxOutputTokens"),
        tokens=count(body),
        body=body,
    )


def refusal_body(rejection: Rejection) -> dict[str, Any]:
    """The JSON of an error."""
    status = _STATUSES.get(rejection.status, "UNKNOWN")
    return {"error": {"code": rejection.status, "message": rejection.message, "status": status}}


def answer_body(request: ChatRequest, reply: Reply) -> dict[str, Any]:
    """The JSON of a complete answer."""
    text, reason = _text_and_reason(request, reply)
    parts = [*([{"text": text}] if text else ()), *call_parts(reply.calls)]
    return answer(parts, reason, _usage(request, text, reply))


def events(request: ChatRequest, reply: Reply) -> Iterator[bytes]:
    """The same answer as server-sent events; the usage stands in each."""
    text, reason = _text_and_reason(request, reply)
    usage = _usage(request, text, reply)
    for piece in reply.pieces if text == reply.whole_text else [text]:
        yield event(answer([{"text": piece}], None, usage | {"candidatesTokenCount": 1}))
    yield event(answer(call_parts(reply.calls) or [{"text": ""}], reason, usage))


def opening(_request: ChatRequest, text: str) -> bytes:
    """The first events of an answer that breaks off after `text`."""
    return event(answer([{"text": text}], None, {"promptTokenCount": 9}))


def error_event() -> bytes:
    """An error in a stream that has begun."""
    return event(
        refusal_body(Rejection("error_event", "The model is overloaded. Please try again later.", 503))
    )


def end() -> bytes:
    """The end of a stream."""
    return b""


def event(value: Mapping[str, Any]) -> bytes:
    """One server-sent event."""
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\r\n\r\n"


def answer(
    parts: Sequence[Mapping[str, Any]], reason: str | None, usage: Mapping[str, Any] | None
) -> dict[str, Any]:
    """One response, or a chunk of it."""
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if reason is not None:
        candidate["finishReason"] = reason
    metadata = {"usageMetadata": usage} if usage is not None else {}
    return {"candidates": [candidate], **metadata, "modelVersion": "served-model", "responseId": "double"}


def call_parts(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """The parts of some calls; the first has the signature of the thoughts."""
    made: list[dict[str, Any]] = [
        {"functionCall": {"name": call.name, "args": dict(call.arguments)}} for call in calls
    ]
    if made:
        made[0]["thoughtSignature"] = SIGNATURE
    return made


def _said(turn: int, content: Mapping[str, Any]) -> Iterator[ChatMessage]:
    parts = content["parts"]
    responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
    for position, response in enumerate(responses):
        said = response["response"]
        text = said.get("output", said.get("result", said.get("error"))) if len(said) == 1 else said
        result = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
        yield ChatMessage("tool", result, call_id=f"{turn - 1}-{position}", failed="error" in said)
    used = [part["functionCall"] for part in parts if "functionCall" in part]
    calls = [
        Call(f"{turn}-{position}", each["name"], each.get("args") or {}) for position, each in enumerate(used)
    ]
    texts = [part["text"] for part in parts if part.get("text") and not part.get("thought")]
    if texts or calls:
        yield ChatMessage.of_texts("assistant" if content.get("role") == "model" else "user", texts, calls)


def _text_and_reason(request: ChatRequest, reply: Reply) -> tuple[str, str]:
    text = reply.whole_text
    if request.max_tokens is not None and text_tokens(text) > request.max_tokens:
        return first_tokens(text, request.max_tokens), "MAX_TOKENS"
    return text, reply.reason or "STOP"


def _usage(request: ChatRequest, text: str, reply: Reply) -> dict[str, Any]:
    answered = text_tokens(text) + sum(text_tokens(json.dumps(dict(call.arguments))) for call in reply.calls)
    prompt = round(request.tokens * reply.prompt_share)
    return {
        "promptTokenCount": prompt,
        "candidatesTokenCount": answered,
        "totalTokenCount": prompt + answered,
    }
