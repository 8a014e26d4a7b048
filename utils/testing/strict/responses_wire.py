"""OpenAI's Responses API on the wire: requests in, responses and their events out."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from utils.testing.strict.conversation import Api, Call, ChatMessage, ChatRequest, DeclaredTool, Reply
from utils.testing.strict.counting import text_tokens
from utils.testing.strict.openai_wire import refusal_body
from utils.testing.strict.responses_rules import count, kind_of, text_of

__all__ = ["CONTENT_TYPE", "answer_body", "end", "error_event", "events", "opening", "parse", "refusal_body"]

CONTENT_TYPE = b"text/event-stream; charset=utf-8"

Item = dict[str, Any]


def parse(body: Mapping[str, Any]) -> ChatRequest:
    """A checked request, normalised. What the model reasoned is no message."""
    return ChatRequest(
        api=Api.RESPONSES,
        model=body["model"],
        messages=[_said(item) for item in body["input"] if kind_of(item) != "reasoning"],
        tools=[
            DeclaredTool(tool["name"], tool.get("description", ""), tool.get("parameters") or {})
            for tool in body.get("tools") or ()
        ],
        stream=bool(body.get("stream")),
        max_tokens=body.get("max_output_tokens"),
        tokens=count(body),
        body=body,
    )


def answer_body(request: ChatRequest, reply: Reply) -> dict[str, Any]:
    """The JSON of a complete response."""
    return _response(request, "completed", _output(request, reply), _usage(request, reply))


def events(request: ChatRequest, reply: Reply) -> Iterator[bytes]:
    """The same as server-sent events."""
    started = _response(request, "in_progress", [], None)
    yield _event("response.created", response=started)
    output = _output(request, reply)
    for index, item in enumerate(output):
        place = {"item_id": item["id"], "output_index": index}
        yield _event("response.output_item.added", output_index=index, item=_empty(item))
        yield from _parts(item, place, reply)
        yield _event("response.output_item.done", output_index=index, item=item)
    usage = _usage(request, reply)
    yield _event(
        "response.completed", response=_response(request, "completed", output, usage) | {"id": started["id"]}
    )


def opening(request: ChatRequest, text: str) -> bytes:
    """The first events of an answer that breaks off after `text`."""
    item = _message("")
    begun = _event("response.created", response=_response(request, "in_progress", [], None))
    added = _event("response.output_item.added", output_index=0, item=_empty(item))
    return begun + added + _delta(text, {"item_id": item["id"], "output_index": 0})


def error_event() -> bytes:
    """An error in a stream that has begun."""
    message = "The server had an error while processing your request. Sorry about that!"
    return _event("error", code="server_error", message=message, param=None)


def end() -> bytes:
    """The end of a stream: the last event ends it, and nothing follows."""
    return b""


def _said(item: Mapping[str, Any]) -> ChatMessage:
    kind = kind_of(item)
    if kind == "function_call":
        call = Call(item["call_id"], item["name"], json.loads(item["arguments"] or "{}"))
        return ChatMessage("assistant", calls=[call])
    if kind == "function_call_output":
        return ChatMessage("tool", str(item["output"]), call_id=item["call_id"])
    role = "system" if item["role"] == "developer" else item["role"]
    content = item.get("content")
    texts = (
        [str(part.get("text") or "") for part in content] if isinstance(content, list) else [text_of(item)]
    )
    return ChatMessage.of_texts(role, texts)


def _output(request: ChatRequest, reply: Reply) -> list[Item]:
    """The items of a response: what was reasoned always comes first, then the text, then the calls."""
    thought = [{"type": "summary_text", "text": reply.reasoning}] if reply.reasoning else []
    items: list[Item] = [{"type": "reasoning", "id": _id("rs"), "summary": thought}]
    if "reasoning.encrypted_content" in (request.body.get("include") or ()):
        items[0]["encrypted_content"] = _id("gAAAAAB")
    if reply.whole_text or not reply.calls:
        items.append(_message(reply.whole_text))
    for call in reply.calls:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        made = {"type": "function_call", "id": _id("fc"), "call_id": call.id, "name": call.name}
        items.append(made | {"arguments": arguments, "status": "completed"})
    return items


def _message(text: str) -> Item:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {
        "type": "message",
        "id": _id("msg"),
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


def _empty(item: Item) -> Item:
    """An item as it is announced."""
    bare: dict[str, Item] = {
        "reasoning": {"summary": []},
        "message": {"content": []},
        "function_call": {"arguments": ""},
    }
    return item | bare[item["type"]]


def _parts(item: Item, place: Item, reply: Reply) -> Iterator[bytes]:
    if item["type"] == "reasoning":
        for number, part in enumerate(item["summary"]):
            at = {**place, "summary_index": number}
            yield _event("response.reasoning_summary_part.added", part=part | {"text": ""}, **at)
            yield _event("response.reasoning_summary_text.delta", delta=part["text"], **at)
            yield _event("response.reasoning_summary_text.done", text=part["text"], **at)
    elif item["type"] == "message":
        for piece in reply.pieces:
            yield _delta(piece, place)
        yield _event(
            "response.output_text.done", content_index=0, text=reply.whole_text, logprobs=[], **place
        )
    else:
        half = len(item["arguments"]) // 2
        for part in (item["arguments"][:half], item["arguments"][half:]):
            yield _event("response.function_call_arguments.delta", delta=part, **place)
        yield _event(
            "response.function_call_arguments.done", arguments=item["arguments"], name=item["name"], **place
        )


def _delta(text: str, place: Item) -> bytes:
    return _event("response.output_text.delta", content_index=0, delta=text, logprobs=[], **place)


def _response(request: ChatRequest, status: str, output: list[Item], usage: Item | None) -> Item:
    return {
        "id": _id("resp"),
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": request.model,
        "output": output,
        "parallel_tool_calls": True,
        "reasoning": request.body.get("reasoning") or {},
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": usage,
    }


def _usage(request: ChatRequest, reply: Reply) -> Item:
    thought = 8 + text_tokens(reply.reasoning)
    calls = sum(text_tokens(json.dumps(call.arguments)) for call in reply.calls)
    given, made = round(request.tokens * reply.prompt_share), thought + calls + text_tokens(reply.whole_text)
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": given + made,
    }


def _event(kind: str, **fields: Any) -> bytes:
    body = json.dumps({"type": kind, "sequence_number": 0, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {body}\n\n".encode()


def _id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex}"
