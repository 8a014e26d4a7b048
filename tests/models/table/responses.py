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


def failed(code: str, message: str) -> Wire:
    """A response that fails after it has begun."""
    begun = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "output": []}
    end = begun | {"status": "failed", "error": {"code": code, "message": message}}
    parts = [("response.created", begun | {"status": "in_progress"}), ("response.failed", end)]
    lines = [
        json.dumps({"type": kind, "sequence_number": n, "response": r}) for n, (kind, r) in enumerate(parts)
    ]
    return Wire([f"data: {line}\n\n".encode() for line in lines])


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
        for kind in (FaultKind.ERROR_EVENT, FaultKind.BROKEN)
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
]
