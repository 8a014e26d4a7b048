"""A client of the chaos run: sends, reads, leaves in the middle, cancels."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx

HEADERS = {"A2A-Version": "1.0"}
OPEN = {"TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", ""}
INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED"


@dataclass
class Seen:
    """What was seen of one turn."""

    task_id: str = ""
    state: str = ""
    text: str = ""


class Conversation:
    """One context at a server."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url
        self._context_id = str(uuid4())

    async def send(self, text: str, *, task_id: str = "") -> Seen:
        """Send and read to the end."""
        seen = Seen()
        async with aclosing(self._events(text, task_id)) as events:
            async for event in events:
                _apply(seen, event)
        return seen

    async def leave(self, text: str, after: int) -> Seen:
        """Send, and close the connection after some events."""
        seen = Seen()
        async with aclosing(self._events(text, "")) as events:
            async for event in events:
                _apply(seen, event)
                after -= 1
                if after <= 0:
                    break
        return seen

    async def cancel(self, text: str, after: int) -> Seen:
        """Send, and cancel after some events; reads on to the end."""
        seen = Seen()
        async with aclosing(self._events(text, "")) as events:
            async for event in events:
                _apply(seen, event)
                after -= 1
                if after == 0:
                    await call(self._http, self._url, "CancelTask", {"id": seen.task_id})
        return seen

    async def _events(self, text: str, task_id: str) -> AsyncGenerator[Any, None]:
        message = {
            "messageId": str(uuid4()),
            "role": "ROLE_USER",
            "contextId": self._context_id,
            "parts": [{"text": text}],
            **({"taskId": task_id} if task_id else {}),
        }
        body = _body("SendStreamingMessage", {"message": message})
        async with self._http.stream("POST", f"{self._url}/", json=body, headers=HEADERS) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data:"):
                    yield json.loads(line[5:]).get("result", {})


async def call(http: httpx.AsyncClient, url: str, method: str, params: Any) -> Any:
    """One JSON-RPC call; its result, or nothing where it was refused."""
    answer = await http.post(f"{url}/", json=_body(method, params), headers=HEADERS)
    return answer.json().get("result", {})


async def open_tasks(http: httpx.AsyncClient, url: str) -> int:
    """How many tasks of a server neither ended nor wait for the user."""
    total = 0
    for state in ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"):
        listed = await call(http, url, "ListTasks", {"status": state, "pageSize": 1})
        total += int(listed.get("totalSize", 0))
    return total


def _body(method: str, params: Any) -> Any:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _apply(seen: Seen, event: Any) -> None:
    if "task" in event:
        seen.task_id, seen.state = event["task"]["id"], event["task"]["status"]["state"]
    elif "statusUpdate" in event:
        seen.state = event["statusUpdate"]["status"]["state"]
    elif "artifactUpdate" in event and event["artifactUpdate"]["artifact"]["artifactId"] == "response":
        update = event["artifactUpdate"]
        chunk = "".join(part.get("text", "") for part in update["artifact"]["parts"])
        seen.text = seen.text + chunk if update.get("append") else chunk
