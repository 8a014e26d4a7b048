"""Gemini's own API, and the same on Vertex AI."""

from __future__ import annotations

from tests.models.row import Row
from utils.testing.strict.conversation import Call
from utils.testing.strict.gemini_rules import SIGNATURE
from utils.testing.strict.servers import Server, generated, refusal
from utils.testing.strict_provider import Fault, FaultKind, Reply

_HALF, _REST = "The next thing that you must never do is ", "to skip the backup."
_CALL = {"functionCall": {"name": "write", "args": {"line": "x y"}}, "thoughtSignature": SIGNATURE}
_OTHER = {"functionCall": {"name": "write", "args": {"line": "z"}}}
_THOUGHT = {"text": "I shall write.", "thought": True}


def _rows(server: Server) -> list[Row]:
    return [
        Row("a call, whose signature goes back", server, [Reply(calls=[Call("", "write", {"line": "x y"})])], wrote=["x y"], requests=2),
        Row("two calls, one signature", server, [generated([_CALL, _OTHER])], wrote=["x y", "z"], requests=2),
        Row("thoughts and a call", server, [generated([_THOUGHT], [_CALL])], wrote=["x y"], reasoned="I shall write.", requests=2),
        Row("thoughts and an answer", server, [generated([{"text": "Easy.", "thought": True}], [{"text": "You are "}], [{"text": "right."}])], text="You are right.", reasoned="Easy."),
        Row("a namespace", server, [generated([{"functionCall": {"name": "default_api.write", "args": {"line": "x y"}}, "thoughtSignature": SIGNATURE}])], wrote=["x y"]),
        Row("an answer cut off is continued", server, [generated([{"text": _HALF}], reason="MAX_TOKENS"), generated([{"text": _REST}])], text=_HALF + _REST, requests=2),
        Row("a filtered answer", server, [generated([{"text": "Sorry"}], reason="SAFETY")], text="Sorry\n\n> The model provider's content filter stopped the answer.", code="content_filtered"),
        Row("a malformed call", server, [generated([{"text": " "}], reason="MALFORMED_FUNCTION_CALL")], retried=["model_unavailable"], requests=2, replaced=True),
        Row("usage: none", server, [generated([{"text": "Hello."}], usage={})], text="Hello."),
        Row("usage: cached and thoughts", server, [generated([{"text": "Hello."}], usage={"promptTokenCount": 120, "candidatesTokenCount": 9, "thoughtsTokenCount": 50, "cachedContentTokenCount": 100, "totalTokenCount": 179})], text="Hello."),
        Row("busy once", server, [refusal({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "You exceeded your current quota. Please retry in 0.01s."}}, 429)], retried=["rate_limited"], requests=2),
        Row("overloaded once", server, [Fault(FaultKind.OVERLOADED)], retried=["model_unavailable"], requests=2),
        Row("down once", server, [Fault(FaultKind.SERVER_ERROR)], retried=["model_unavailable"], requests=2),
        Row("nothing", server, [generated([{"text": ""}])], retried=["empty_response"], requests=2),
        Row("too long for the window: sent again, smaller", server, [Fault(FaultKind.REQUEST_TOO_LARGE)], text=None),
        Row("a wrong key", server, [Fault(FaultKind.UNAUTHORISED)] * 3, text="", state="failed", code="invalid_request", sentence="key", requests=1),
        Row("no such model", server, [Fault(FaultKind.MODEL_NOT_FOUND)] * 3, text="", state="failed", code="invalid_request", sentence="LLM_MODEL", requests=1),
        Row("no access", server, [Fault(FaultKind.FORBIDDEN)] * 3, text="", state="failed", code="auth_failed", requests=1),
    ]  # fmt: skip


ROWS = [*_rows(Server.GEMINI_API), *_rows(Server.VERTEX)]
