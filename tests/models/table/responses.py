"""OpenAI's Responses API, which a reasoning model is asked over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from tests.models.row import Row
from utils.testing.strict.conversation import Call, Reply, Wire
from utils.testing.strict.faults import FaultKind
from utils.testing.strict.servers import Server

REASONING: Mapping[str, str] = MappingProxyType({"LLM_MODEL": "gpt-5", "LLM_REASONING_EFFORT": "low"})
_THOUGHT = "The user wants a line."
_CALL = Reply("", [Call("c1", "write", {"line": "x y"})], reasoning=_THOUGHT)


def _stream(*events: tuple[str, dict[str, object]]) -> Wire:
    lines = [
        json.dumps({"type": kind, "sequence_number": n, **fields}) for n, (kind, fields) in enumerate(events)
    ]
    return Wire([f"data: {line}\n\n".encode() for line in lines])


def ended(*parts: tuple[str, dict[str, object]], incomplete: str = "") -> Wire:
    """A response of these events, completed or incomplete for a reason."""
    response = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "output": []}
    how = "incomplete" if incomplete else "completed"
    why = {"reason": incomplete} if incomplete else None
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    return _stream(
        ("response.created", {"response": response | {"status": "in_progress"}}),
        *((kind, place | fields) for kind, fields in parts),
        (f"response.{how}", {"response": response | {"status": how, "incomplete_details": why}}),
    )


def failed(code: str, message: str) -> Wire:
    """A response that fails after it has begun."""
    begun = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "output": []}
    end = begun | {"status": "failed", "error": {"code": code, "message": message}}
    return _stream(
        ("response.created", {"response": begun | {"status": "in_progress"}}),
        ("response.failed", {"response": end}),
    )


ROWS = [
    Row(
        "Responses API: reasoning, then a call, whose reasoning goes back to the model",
        Server.OPENAI,
        [_CALL, Reply("Written.", reasoning="It is done.")],
        text="Written.",
        wrote=["x y"],
        reasoned=f"{_THOUGHT}It is done.",
        requests=2,
        settings=REASONING,
    ),
    Row(
        "Responses API: two calls at once",
        Server.OPENAI,
        [Reply("", [Call("c1", "write", {"line": "x"}), Call("c2", "now", {})])],
        wrote=["now", "x"],
        settings=REASONING,
    ),
    Row(
        "Responses API: text beside a call",
        Server.OPENAI,
        [Reply("I write it.", [Call("c1", "write", {"line": "x"})], reasoning=_THOUGHT)],
        text=None,
        wrote=["x"],
        reasoned=_THOUGHT,
        replaced=True,
        settings=REASONING,
    ),
    *(
        Row(
            f"Responses API: {kind.value} in the stream, once",
            Server.OPENAI,
            [kind, Reply("Written.")],
            text="Written.",
            retried=["model_unavailable"],
            replaced=True,
            settings=REASONING,
        )
        for kind in (FaultKind.ERROR_EVENT, FaultKind.BROKEN, FaultKind.ENDED)
    ),
    *(
        Row(
            f"Responses API: {code} fails a response that has begun, once",
            Server.OPENAI,
            [failed(code, message), Reply("Written.")],
            text="Written.",
            retried=retried,
            settings=REASONING,
        )
        for code, message, retried in (
            ("server_error", "An error occurred while processing your request.", ["model_unavailable"]),
            ("rate_limit_exceeded", "Rate limit reached. Please try again in 10ms.", ["rate_limited"]),
        )
    ),
    Row(
        "Responses API: a refusal apart from the text",
        Server.OPENAI,
        [
            ended(
                ("response.refusal.delta", {"delta": "I cannot help with that."}),
                ("response.refusal.done", {"refusal": "I cannot help with that."}),
            )
        ],
        text="I cannot help with that.\n\n> The model provider's content filter stopped the answer.",
        code="content_filtered",
        requests=1,
        settings=REASONING,
    ),
]
