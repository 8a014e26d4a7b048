"""Anthropic's own Messages API."""

from __future__ import annotations

from typing import Any

from tests.models.row import Row
from utils.testing.strict.anthropic_rules import SIGNATURE
from utils.testing.strict.conversation import Call
from utils.testing.strict.servers import Server, messages, refusal
from utils.testing.strict_provider import Fault, FaultKind, Reply

_CLAUDE = Server.CLAUDE
_HALF, _REST = "The next thing that you must never do is ", "to skip the backup."
_USE = {"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}}


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": ""}, *({"type": "text_delta", "text": part} for part in text.split("|"))]


def _thinking(text: str) -> list[dict[str, Any]]:
    return [
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": text},
        {"type": "signature_delta", "signature": SIGNATURE},
    ]


def _call(arguments: str) -> list[dict[str, Any]]:
    return [_USE, {"type": "input_json_delta", "partial_json": arguments}]


def _error(kind: str, message: str) -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": message}}


ROWS = [
    Row("a native call", _CLAUDE, [Reply(calls=[Call("toolu_1", "write", {"line": "x y"})])], wrote=["x y"], requests=2),
    Row(
        "a call after thoughts, whose signature goes back",
        _CLAUDE,
        [messages(_thinking("I shall write."), _call('{"line": "x y"}'), reason="tool_use")],
        wrote=["x y"],
        reasoned="I shall write.",
        requests=2,
    ),
    Row("thoughts and an answer", _CLAUDE, [messages(_thinking("Easy."), _text("You are |right."))], text="You are right.", reasoned="Easy."),
    Row("an answer cut off is continued", _CLAUDE, [messages(_text(_HALF), reason="max_tokens"), messages(_text(_REST))], text=_HALF + _REST, requests=2),
    Row(
        "a call cut off is not run",
        _CLAUDE,
        [messages(_call('{"line": "Close the first tw'), reason="max_tokens")],
        retried=["answer_cut"],
        requests=2,
    ),
    Row(
        "a refused answer",
        _CLAUDE,
        [messages(_text("Sorry"), reason="refusal")],
        text="Sorry\n\n> The model provider's content filter stopped the answer.",
        code="content_filtered",
    ),
    Row("usage: none", _CLAUDE, [messages(_text("Hello."), usage={"input_tokens": 0, "output_tokens": 0})], text="Hello."),
    Row("usage: cached", _CLAUDE, [messages(_text("Hello."), usage={"input_tokens": 9, "output_tokens": 9, "cache_read_input_tokens": 110, "cache_creation_input_tokens": 4})], text="Hello."),
    Row("busy once", _CLAUDE, [Fault(FaultKind.RATE_LIMITED, retry_after=0)], retried=["rate_limited"], requests=2),
    Row("overloaded once, 529", _CLAUDE, [Fault(FaultKind.OVERLOADED)], retried=["model_unavailable"], requests=2),
    Row("overloaded in the middle", _CLAUDE, [Fault(FaultKind.ERROR_EVENT)], retried=["model_unavailable"], replaced=True),
    Row("a stream that breaks off", _CLAUDE, [Fault(FaultKind.BROKEN)], retried=["model_unavailable"], replaced=True),
    Row(
        "too long for the window: sent again, smaller",
        _CLAUDE,
        [refusal(_error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), 400)],
        text=None,
    ),
    Row(
        "a wrong key",
        _CLAUDE,
        [Fault(FaultKind.UNAUTHORISED)] * 3,
        text="",
        state="failed",
        code="auth_failed",
        sentence="refused the credentials",
        requests=1,
    ),
    Row("no such model", _CLAUDE, [Fault(FaultKind.MODEL_NOT_FOUND)] * 3, text="", state="failed", code="invalid_request", sentence="LLM_MODEL", requests=1),
    Row("no credit", _CLAUDE, [Fault(FaultKind.QUOTA)] * 3, text="", state="failed", code="invalid_request", sentence="quota", requests=1),
]  # fmt: skip
