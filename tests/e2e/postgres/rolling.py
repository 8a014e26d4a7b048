"""An agent that counts slowly, and clients that go to another replica when theirs stops."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any
from uuid import uuid4

import httpx

from tests.e2e.agents.peers import Keys
from tests.e2e.wire.wiring import HEADERS
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import AgentEvent, Completed, TextDelta

WHOLE = "".join(f"{number} " for number in range(20))
PAUSE = 0.1
ENDED = "TASK_STATE_COMPLETED"


class Counting(Keys):
    """Counts to twenty within two seconds."""

    name = "counting"

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        for number in range(20):
            yield TextDelta(f"{number} ")
            await asyncio.sleep(PAUSE)
        yield Completed()


def rpc(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


class Caller:
    """One message, sent to one replica after the other until its answer is whole.

    Attributes:
        text: The answer, as a client that replaces and appends puts it together.
        state: The last state of the task that was told.
    """

    def __init__(self, http: httpx.AsyncClient, urls: Callable[[], Sequence[str]], number: int) -> None:
        self._http = http
        self._urls = urls
        self._turn = number
        part = {"text": f"Count, please, {number}."}
        self._message = {"messageId": str(uuid4()), "role": "ROLE_USER", "parts": [part]}
        self._task_id = ""
        self.text = self.state = ""

    @property
    def _url(self) -> str:
        """Another replica each time."""
        urls = self._urls()
        self._turn += 1
        return urls[self._turn % len(urls)]

    async def stream(self) -> None:
        """Follow the answer to its end; what breaks off is subscribed to again."""
        while self.state != ENDED:
            method = rpc("SendStreamingMessage", message=self._message)
            if self._task_id:
                method = rpc("SubscribeToTask", id=self._task_id)
            try:
                async with self._http.stream("POST", self._url, json=method, headers=HEADERS) as answer:
                    async for line in answer.aiter_lines():
                        if line.startswith("data:"):
                            self._note(json.loads(line[5:]))
            except httpx.TransportError:
                await asyncio.sleep(0.1)
            if self._task_id and self.state != ENDED:
                await self._look()

    async def block(self) -> None:
        """Wait for the answer; a refused or lost call is made again with the same message."""
        while self.state != ENDED:
            try:
                sent = rpc("SendMessage", message=self._message)
                answer = await self._http.post(self._url, json=sent, headers=HEADERS)
                self._note(answer.json())
            except httpx.TransportError:
                await asyncio.sleep(0.1)

    async def _look(self) -> None:
        """The task as it is: it may have ended since the stream broke off."""
        try:
            answer = await self._http.post(self._url, json=rpc("GetTask", id=self._task_id), headers=HEADERS)
        except httpx.TransportError:
            return
        if "result" in answer.json():
            self._note({"result": {"task": answer.json()["result"]}})

    def _note(self, told: dict[str, Any]) -> None:
        event = told.get("result", {})
        if task := event.get("task"):
            self._task_id, self.state = task["id"], task["status"]["state"]
            for artifact in task.get("artifacts", []):
                self.text = _text(artifact)
        elif update := event.get("artifactUpdate"):
            piece = _text(update["artifact"])
            self.text = self.text + piece if update.get("append") else piece
        elif update := event.get("statusUpdate"):
            self.state = update["status"]["state"]
        assert "FAILED" not in self.state, told


def _text(artifact: dict[str, Any]) -> str:
    return "".join(part.get("text", "") for part in artifact["parts"])
