"""An MCP server that no library holds to the protocol: `python -m tests.e2e.mcp.oddities` speaks stdio."""

from __future__ import annotations

import json
import sys
from typing import Any

SCHEMAS: dict[str, Any] = {
    "dangling": {"a": {"$ref": "#/$defs/Nope"}},
    "elsewhere": {"a": {"$ref": "https://example.com/schema.json"}},
    "mixed": {"a": {"enum": [1, "two", None, True]}, "b": {"enum": []}},
    "names": {"$filter": {"type": "string"}, "config": {"type": "string"}},
    "anything": {},
}
ANSWERS: dict[str, Any] = {
    "structured": {"result": {"content": [], "structuredContent": {"n": 1, "deep": {"a": [1, 2]}}}},
    "video": {"result": {"content": [{"type": "video", "data": "x"}]}},
    "listed": {"result": {"content": [], "structuredContent": [1, 2]}},
    "silent": {"result": {"content": None}},
    "broken": {"error": {"code": -32000, "message": "The disk\u2028is\x00 full" + "!" * 10_000}},
    "closed": {"error": {"code": -32000, "message": "Connection closed"}},
    "unlike": {"result": {"content": [], "structuredContent": {"a": "a" * 22 + "!"}}},
    "late": {"error": {"code": 408, "message": "The database took too long"}},
    "surrogate": {"result": {"content": [{"type": "text", "text": "half \ud83d of a character"}]}},
    "ended": {"error": {"code": 32600, "message": "No such row"}},
}
RESULTS: dict[str, Any] = {
    "unlike": {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}},
}
CALLS: list[str] = []


def tools() -> list[dict[str, Any]]:
    """All tools; none of them changes anything."""
    shapes = {name: {} for name in (*ANSWERS, "calls")} | SCHEMAS
    return [
        {
            "name": name,
            "inputSchema": {"type": "object", "properties": properties},
            "annotations": {"readOnlyHint": True},
            "description": "Its description has no text: \udc00",
            **({"outputSchema": RESULTS[name]} if name in RESULTS else {}),
        }
        for name, properties in shapes.items()
    ]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method, params.get("name"):
        case "initialize", _:
            about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}}
            return {"result": {"protocolVersion": params["protocolVersion"], **about}}
        case "tools/list", _:
            return {"result": {"tools": tools()}}
        case "tools/call", "calls":
            return _text(" ".join(CALLS))
        case "tools/call", str(name):
            CALLS.append(name)
            return ANSWERS.get(name) or _text(json.dumps(params["arguments"]))
    return {"result": {}}


def _text(text: str) -> dict[str, Any]:
    return {"result": {"content": [{"type": "text", "text": text}]}}


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked and "method" in asked:
            said = {"jsonrpc": "2.0", "id": asked["id"], **answer(asked["method"], asked.get("params") or {})}
            print(json.dumps(said), flush=True)
