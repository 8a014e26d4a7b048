"""An MCP server that sends too much: `python -m tests.e2e.mcp.flood` speaks stdio.

It says after each listing of its tools that they have changed.
"""

from __future__ import annotations

import json
import sys
from typing import Any

LISTED: list[int] = []
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def say(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def endless() -> None:
    """A line that does not end; the reader ends the program."""
    sys.stdout.write('{"jsonrpc": "2.0", "result": {"content": [{"type": "text", "text": "')
    while True:
        sys.stdout.write("x" * 1_000_000)


def text(said: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": str(said)}]}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method, params.get("name"):
        case "initialize", _:
            about = {
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "flood", "version": "1"},
            }
            return {"protocolVersion": params["protocolVersion"], **about}
        case "tools/list", _:
            LISTED.append(1)
            schema = {"type": "object", "properties": {}}
            return {"tools": [{"name": name, "inputSchema": schema} for name in ("listed", "endless")]}
        case "tools/call", "listed":
            return text(len(LISTED))
        case "tools/call", _:
            endless()
    return {}


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked and "method" in asked:
            say({"id": asked["id"], "result": answer(asked["method"], asked.get("params") or {})})
            if asked["method"] == "tools/list":
                for _ in range(100):
                    say(CHANGED)
