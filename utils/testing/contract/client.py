"""A client of one agent over raw HTTP, which keeps every event that it saw."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

HEADERS = {"A2A-Version": "1.0"}
ENDED = frozenset({"completed", "failed", "canceled", "rejected"})
WAITING = frozenset({"input_required", "auth_required"})

Event = dict[str, Any]


def state_of(task_or_update: Event) -> str:
    """The state in lower case: `input_required`."""
    return str(task_or_update.get("status", {}).get("state", "")).removeprefix("TASK_STATE_").lower()


def text_of(task: Event) -> str:
    """The answer of a stored task: the text of its response artifact."""
    found = [one for one in task.get("artifacts", []) if one.get("name", one.get("artifactId")) == "response"]
    return "".join(part.get("text", "") for one in found for part in one["parts"])


@dataclass
class Seen:
    """The events of one stream, in order."""

    events: list[Event] = field(default_factory=list)

    @property
    def task(self) -> Event:
        """The task that the stream began with."""
        found: Event = self.events[0].get("task", {})
        return found

    @property
    def states(self) -> Sequence[str]:
        """Every reported state, in order."""
        updates = [event.get("statusUpdate") or event.get("task") for event in self.events]
        return [state_of(one) for one in updates if one]

    @property
    def text(self) -> str:
        """The answer as assembled by a client that supports append and replace."""
        assembled = ""
        for chunk in self.chunks:
            text = "".join(part.get("text", "") for part in chunk["artifact"]["parts"])
            assembled = assembled + text if chunk.get("append") else text
        return assembled

    @property
    def chunks(self) -> Sequence[Event]:
        """The pieces of the answer."""
        updates = [event["artifactUpdate"] for event in self.events if "artifactUpdate" in event]
        return [one for one in updates if one["artifact"].get("name") == "response"]


@dataclass(frozen=True)
class Client:
    """Calls of the protocol, each with its plain JSON."""

    url: str
    http: httpx.AsyncClient

    async def card(self) -> Event:
        """The agent's card."""
        answer = await self.http.get(f"{self.url}/.well-known/agent-card.json")
        answer.raise_for_status()
        card: Event = answer.json()
        return card

    async def call(self, method: str, params: Event) -> Event:
        """One JSON-RPC call; returns the complete response."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        response = await self.http.post(f"{self.url}/", json=body, headers=HEADERS)
        decoded: Event = response.json()
        return decoded

    async def send(self, text: str, **where: str) -> Event:
        """Send a message and wait for its task."""
        task: Event = (await self.call("SendMessage", message(text, **where)))["result"]["task"]
        return task

    async def get(self, task_id: str) -> Event:
        """A task as it is stored."""
        task: Event = (await self.call("GetTask", {"id": task_id}))["result"]
        return task

    async def stream(self, text: str, **where: Any) -> AsyncGenerator[Event, None]:
        """Send a message and follow it."""
        body = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": message(text, **where)}
        async with self.http.stream("POST", f"{self.url}/", json=body, headers=HEADERS) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data:"):
                    event = json.loads(line[5:])
                    yield event.get("result", event)

    async def ask(self, text: str, **where: Any) -> Seen:
        """Send a message and follow it to the end of its stream."""
        seen = Seen()
        async with aclosing(self.stream(text, **where)) as events:
            async for event in events:
                seen.events.append(event)
        return seen


def message(text: str, **where: Any) -> Event:
    """The parameters of a send. `where` takes `contextId`, `taskId` and `metadata`."""
    parts = [{"text": text}]
    return {"message": {"messageId": str(uuid4()), "role": "ROLE_USER", "parts": parts, **where}}


@asynccontextmanager
async def client_of(url: str, seconds: float = 30.0) -> AsyncIterator[Client]:
    """A client of the agent at `url`; `seconds` bounds each wait for an answer."""
    import httpx

    async with httpx.AsyncClient(timeout=seconds, trust_env=False) as http:
        yield Client(url, http)
