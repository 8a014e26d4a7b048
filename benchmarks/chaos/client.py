"""A client of the chaos run: sends, reads, leaves in the middle, cancels."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx

HEADERS = {"A2A-Version": "1.0"}
COMPLETED = "TASK_STATE_COMPLETED"
WAITING = ("TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED")
OPEN = ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")
KEEP_ALIVE_SECONDS = 1.0
"""Idle connections are closed by the client, well before the servers do it after 5 s: a request that meets the server's
close on its way is answered with a reset, which says nothing about the service."""
STATES = (
    *OPEN,
    COMPLETED,
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELED",
    "TASK_STATE_REJECTED",
    *WAITING,
)


@dataclass
class Seen:
    """What was seen of one turn.

    Attributes:
        task_id: The task; empty where none was made.
        state: The newest state.
        text: The answer so far.
        said: Words of the newest status, of an error in place of an event, or that the connection broke.
        left: Whether the client left while the task was open.
        canceled: Whether a cancel was answered with a canceled task.
    """

    task_id: str = ""
    state: str = ""
    text: str = ""
    said: str = ""
    left: bool = False
    canceled: bool = False


class Conversation:
    """One context at a server."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url
        self._context_id = str(uuid4())

    async def send(self, text: str, *, task_id: str = "") -> Seen:
        """Send and read to the end."""
        seen = Seen()
        with _noting_breaks(seen):
            async with aclosing(self._events(text, task_id)) as events:
                async for event in events:
                    _apply(seen, event)
        return seen

    async def leave(self, text: str, after: int) -> Seen:
        """Send, and close the connection after some events."""
        seen = Seen()
        with _noting_breaks(seen):
            async with aclosing(self._events(text, "")) as events:
                async for event in events:
                    _apply(seen, event)
                    after -= 1
                    if after <= 0:
                        seen.left = seen.state in OPEN
                        break
        return seen

    async def cancel(self, text: str, after: int) -> Seen:
        """Send, and cancel after some events; reads on to the end."""
        seen = Seen()
        with _noting_breaks(seen):
            async with aclosing(self._events(text, "")) as events:
                async for event in events:
                    _apply(seen, event)
                    after -= 1
                    if after == 0:
                        task = await call(self._http, self._url, "CancelTask", {"id": seen.task_id})
                        seen.canceled = task.get("status", {}).get("state") == "TASK_STATE_CANCELED"
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
                    yield json.loads(line[5:])


def http_client() -> httpx.AsyncClient:
    """The connections of a run: patient, past any proxy, and never used again once they were idle for long."""
    return httpx.AsyncClient(
        timeout=120, trust_env=False, limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE_SECONDS)
    )


@contextmanager
def _noting_breaks(seen: Seen) -> Iterator[None]:
    """A connection that breaks is something that was seen of the turn, and no end of the run."""
    try:
        yield
    except httpx.TransportError as error:
        seen.state, seen.said = "", f"The connection broke: {type(error).__name__}."


async def call(http: httpx.AsyncClient, url: str, method: str, params: Any) -> Any:
    """One JSON-RPC call; its result, or nothing where it was refused."""
    answer = await http.post(f"{url}/", json=_body(method, params), headers=HEADERS)
    return answer.json().get("result", {})


async def tasks_by_state(http: httpx.AsyncClient, url: str) -> Counter[str]:
    """How many tasks a server has in each state."""
    counts: Counter[str] = Counter()
    for state in STATES:
        listed = await call(http, url, "ListTasks", {"status": state, "pageSize": 1})
        counts[state] = int(listed.get("totalSize", 0))
    return counts


def _body(method: str, params: Any) -> Any:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _apply(seen: Seen, answer: Any) -> None:
    event = answer.get("result", {})
    if "error" in answer:
        seen.state, seen.said = "", str(answer["error"])
    elif "task" in event:
        seen.task_id = event["task"]["id"]
        _apply_status(seen, event["task"]["status"])
    elif "statusUpdate" in event:
        seen.task_id = event["statusUpdate"]["taskId"]
        _apply_status(seen, event["statusUpdate"]["status"])
    elif "artifactUpdate" in event and event["artifactUpdate"]["artifact"]["artifactId"] == "response":
        update = event["artifactUpdate"]
        chunk = "".join(part.get("text", "") for part in update["artifact"]["parts"])
        seen.text = seen.text + chunk if update.get("append") else chunk


def _apply_status(seen: Seen, status: Any) -> None:
    seen.state = status["state"]
    parts = status.get("message", {}).get("parts", ())
    seen.said = "".join(part.get("text", "") for part in parts) or seen.said
