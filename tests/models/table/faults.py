"""Servers that are busy, slow, down or find a request too long."""

from __future__ import annotations

from tests.models.row import HASTY, LAST, Row
from utils.testing.strict.servers import Server, refusal, said, stream
from utils.testing.strict_provider import Fault, FaultKind, Wire

_BUSY = Fault(FaultKind.RATE_LIMITED, retry_after=0)
_DOWN = Fault(FaultKind.SERVER_ERROR)


def _chunk(fields: bytes) -> Wire:
    """A streamed answer of one chunk, byte for byte."""
    return Wire([b'data: {"id": "c", ', fields, b"}\n\n", b"data: [DONE]\n\n"])


_NOT_READABLE = (
    ("bytes that are no text", b'"choices": [{"index": 0, "delta": {"content": "\xff"}}]'),
    ("levels without end", b'"x": ' + b"[" * 100_000 + b"]" * 100_000 + b', "choices": []'),
    ("a number as content", b'"choices": [{"index": 0, "delta": {"content": 42}}]'),
    (
        "a usage that is no number",
        b'"choices": [], "usage": {"prompt_tokens": NaN, "completion_tokens": NaN, "total_tokens": NaN}',
    ),
)
_EACH = (Server.OPENAI, Server.AZURE, Server.BEDROCK, Server.OLLAMA)


def _says(message: str, status: int = 503) -> Wire:
    return refusal({"error": {"message": message, "type": "server_error", "code": None}}, status)


ROWS = [
    *(Row("busy once", server, [_BUSY], retried=["rate_limited"], requests=2) for server in _EACH),
    *(
        Row(
            "busy for ever: four requests, each shown",
            server,
            [_BUSY] * 40,
            text="",
            state="failed",
            code="rate_limited",
            retried=["rate_limited"] * 3,
            requests=4,
        )
        for server in _EACH
    ),
    *(
        Row(
            "busy for an hour: not asked again, and said so",
            server,
            [Fault(FaultKind.RATE_LIMITED, retry_after=3600)] * 4,
            text="",
            state="failed",
            code="rate_limited",
            sentence="Try again in 60 minutes.",
            requests=1,
        )
        for server in (*_EACH, Server.CLAUDE)
    ),
    *(
        Row("down once", server, [_DOWN], retried=["model_unavailable"], requests=2)
        for server in (Server.OPENAI, Server.BEDROCK)
    ),
    *(
        Row(f"{what}, once", Server.VLLM, [_chunk(fields)], retried=["model_unavailable"], requests=2)
        for what, fields in _NOT_READABLE
    ),
    Row(
        "bytes that are no text, for ever",
        Server.VLLM,
        [_chunk(_NOT_READABLE[0][1])] * 40,
        text="",
        state="failed",
        code="model_unavailable",
        sentence="answer cannot be read",
        retried=["model_unavailable"] * 2,
        requests=3,
    ),
    Row(
        "down for ever: three requests, each shown",
        Server.VLLM,
        [_DOWN] * 40,
        text="",
        state="failed",
        code="model_unavailable",
        retried=["model_unavailable"] * 2,
        requests=3,
    ),
    Row("still loading", Server.LLAMA_CPP, [_says("Loading model")], retried=["model_unavailable"]),
    Row("overloaded, 529", Server.ANTHROPIC, [_says("Overloaded", 529)], retried=["model_unavailable"]),
    Row("busy upstream, 429 without a header", Server.OPENROUTER, [_says("Provider returned error", 429)], retried=["rate_limited"]),
    Row("a page of a proxy", Server.VLLM, [Fault(FaultKind.GATEWAY_PAGE)], retried=["model_unavailable"]),
    *(
        Row(
            "no first token in time: slow, asked once, the setting named",
            server,
            [Wire([], open_end=True)] * 3,
            text="",
            state="failed",
            code="model_slow",
            sentence="LLM_TIMEOUT_SECONDS",
            requests=1,
            settings=HASTY,
        )
        for server in _EACH
    ),
    Row(
        "comments only, no first token in time",
        Server.OPENROUTER,
        [Wire([b": OPENROUTER PROCESSING\n\n"] * 3, open_end=True)] * 3,
        text="",
        state="failed",
        code="model_slow",
        sentence="LLM_TIMEOUT_SECONDS",
        requests=1,
        settings=HASTY,
    ),
    *(
        Row(
            "a pause in the middle: asked once more",
            server,
            [Fault(FaultKind.STALL, text="Half of")],
            text=LAST,
            retried=["model_slow"],
            replaced=True,
            requests=2,
            settings=HASTY,
        )
        for server in _EACH
    ),
    Row(
        "a pause in the middle, twice: the setting named",
        Server.OLLAMA,
        [stream(Server.OLLAMA, said("Half of"), reason=None, usage=None, done=False, open_end=True)] * 3,
        text=None,
        state="failed",
        code="model_slow",
        sentence="LLM_STREAM_TIMEOUT_SECONDS",
        retried=["model_slow"],
        replaced=True,
        requests=2,
        settings=HASTY,
    ),
    *(
        Row(f"too long: {name}", server, [refusal(body, status)], requests=2)
        for name, server, body, status in [
            ("code", Server.OPENAI, {"error": {"message": "Too long.", "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}, 400),
            ("exceed_context_size_error", Server.LLAMA_CPP, {"error": {"code": 400, "message": "the request exceeds the available context size (4096 tokens), try increasing it", "type": "exceed_context_size_error", "n_ctx": 4096}}, 400),
            ("maximum context length", Server.VLLM, {"object": "error", "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.", "type": "BadRequestError", "code": 400}, 400),
            ("maximum context length", Server.OPENROUTER, {"error": {"message": "This endpoint's maximum context length is 16384 tokens. However, you requested about 94307 tokens.", "code": 400}}, 400),
        ]
    ),
]  # fmt: skip
