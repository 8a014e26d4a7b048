"""A client that comes back: after a broken connection it subscribes again, or sends the same message again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

from benchmarks.service.doors import ComeAgain, Door, RpcDoor, call, whole
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, parse_resubscribe

COMPLETED, FAILED = "TASK_STATE_COMPLETED", "TASK_STATE_FAILED"
WAITING = "TASK_STATE_INPUT_REQUIRED"
OPEN = ("", "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")
ERROR_EXTENSION = "urn:platform-engineer:ext:error:v1"
RESPONSE = "response"
ENDED = -32004
"""What a subscription to a task that ended is answered with."""

_PAUSE_SECONDS = 0.1
_MOST_RETRY_AFTER = 10.0


@dataclass
class Seen:
    """What a client saw of one turn.

    Attributes:
        state: The newest state; empty before the first.
        text: The answer as its stream told it, a restarted one replaced.
        stored: The answer as GetTask returns it afterwards.
        said: Words of the newest status, or of the newest error.
        code: The failure's code under the error extension.
        refusal: The code of the newest JSON-RPC error, where the message was refused.
        breaks: How often the client had to come back.
        waited: How often it was told to come again later (503).
        again: Whether the newest status says to subscribe again, since the turn goes on in another process.
    """

    task_id: str = ""
    state: str = ""
    text: str = ""
    stored: str = ""
    said: str = ""
    code: str = ""
    refusal: int = 0
    breaks: int = 0
    waited: int = 0
    again: bool = False
    began: float = field(default_factory=time.monotonic)
    ended: float = float("inf")


@asynccontextmanager
async def http_client(seconds: float = 300) -> AsyncIterator[httpx.AsyncClient]:
    """Connections that are never used twice, since servers die under them."""
    limits = httpx.Limits(max_keepalive_connections=0)
    async with httpx.AsyncClient(timeout=seconds, trust_env=False, limits=limits) as http:
        yield http


class Talk:
    """One context at a server.

    Args:
        http: Its connections.
        url: The server.
        patience: Seconds that a turn is followed.
        context_id: An earlier context, to go on with.
        door: The binding; JSON-RPC where it is left out.
    """

    def __init__(
        self,
        http: httpx.AsyncClient,
        url: str,
        patience: float = 120.0,
        *,
        context_id: str = "",
        door: Door | None = None,
    ) -> None:
        self._door = door or RpcDoor(http, url)
        self._patience = patience
        self.context_id = context_id or str(uuid4())

    async def send(self, text: str, *, streamed: bool = True, task_id: str = "") -> Seen:
        """Send a message and follow its task to the end, whatever breaks in between."""
        seen = Seen()
        await self._until_ended(seen, self._message(text, task_id), streamed=streamed)
        return seen

    async def once(self, text: str, seen: Seen, *, streamed: bool = True) -> None:
        """Send a message and note what is told until that one call ends.

        Raises:
            httpx.TransportError: The connection broke.
            ComeAgain: The server takes no request now.
        """
        method = "SendStreamingMessage" if streamed else "SendMessage"
        async with aclosing(self._door.events(method, {"message": self._message(text)})) as answers:
            async for answer in answers:
                _apply(seen, answer)

    async def look(self, task_id: str) -> Seen:
        """A task as it is stored; without a state where it cannot be read now."""
        seen = Seen()
        with suppress(httpx.TransportError, ComeAgain):
            _apply(seen, await whole(self._door, "GetTask", {"id": task_id}))
        return seen

    def _message(self, text: str, task_id: str = "") -> Any:
        return {
            "messageId": str(uuid4()),
            "role": "ROLE_USER",
            "contextId": self.context_id,
            "parts": [{"text": text}],
            **({"taskId": task_id} if task_id else {}),
        }

    async def follow(self, task_id: str) -> Seen:
        """Follow a task to its end, whatever breaks in between."""
        seen = Seen(task_id)
        await self._until_ended(seen, {}, streamed=True)
        return seen

    async def _until_ended(self, seen: Seen, message: Any, *, streamed: bool) -> None:
        method = "SendStreamingMessage" if streamed else "SendMessage"
        while seen.state in OPEN and time.monotonic() - seen.began < self._patience:
            if seen.refusal and not seen.task_id:
                break
            try:
                if seen.task_id:
                    await self._take_up(seen)
                elif streamed:
                    await self._follow(method, {"message": message}, seen)
                else:
                    _apply(seen, await whole(self._door, method, {"message": message}))
            except httpx.TransportError as error:
                seen.breaks, seen.said = seen.breaks + 1, type(error).__name__
                await asyncio.sleep(_PAUSE_SECONDS)
            except ComeAgain as later:
                seen.waited += 1
                await asyncio.sleep(min(later.seconds, _MOST_RETRY_AFTER))
        seen.ended = time.monotonic()
        await self._read_stored(seen)

    async def _take_up(self, seen: Seen) -> None:
        """Subscribe again; a task that has ended meanwhile is read."""
        refusal = await self._follow("SubscribeToTask", {"id": seen.task_id}, seen)
        if seen.state in OPEN:
            _apply(seen, await whole(self._door, "GetTask", {"id": seen.task_id}))
        if seen.state in OPEN and refusal:
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _follow(self, method: str, params: Any, seen: Seen) -> bool:
        """Read a stream to its end; whether it was refused."""
        refused = False
        async with aclosing(self._door.events(method, params)) as answers:
            async for answer in answers:
                refused = "error" in answer
                _apply(seen, answer)
        if seen.state in OPEN and not refused:
            seen.breaks += 1
        if refused:
            await asyncio.sleep(_PAUSE_SECONDS)
        return refused

    async def _read_stored(self, seen: Seen) -> None:
        while seen.task_id and time.monotonic() - seen.ended < self._patience:
            try:
                stored = Seen()
                _apply(stored, await whole(self._door, "GetTask", {"id": seen.task_id}))
            except (httpx.TransportError, ComeAgain):
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            seen.stored = stored.text
            if seen.state != stored.state:
                seen.said = f"stream {seen.state}, stored {stored.state}; {seen.said}"
                seen.state = stored.state
            return


async def tasks_in(http: httpx.AsyncClient, url: str, state: str) -> int:
    """How many tasks a server has in a state."""
    listed = await call(http, url, "ListTasks", {"status": state, "pageSize": 1})
    return int(listed.get("result", {}).get("totalSize", 0))


def _apply(seen: Seen, answer: Any) -> None:
    event = answer.get("result", {})
    if "error" in answer:
        seen.said, seen.refusal = str(answer["error"].get("message")), int(answer["error"].get("code", 0))
    elif "statusUpdate" in event:
        seen.task_id = event["statusUpdate"]["taskId"]
        _apply_status(seen, event["statusUpdate"]["status"], event["statusUpdate"].get("metadata", {}))
    elif "artifactUpdate" in event:
        update = event["artifactUpdate"]
        if update["artifact"]["artifactId"] == RESPONSE:
            chunk = _text_of(update["artifact"])
            seen.text = seen.text + chunk if update.get("append") else chunk
    elif task := event.get("task") or (event if "status" in event else None):
        seen.task_id = task["id"]
        seen.text = answer_of(task)
        _apply_status(seen, task["status"], task.get("metadata", {}))


def answer_of(task: Any) -> str:
    """The text of a task's answer."""
    return "".join(_text_of(each) for each in task.get("artifacts", ()) if each["artifactId"] == RESPONSE)


def _text_of(artifact: Any) -> str:
    return "".join(part.get("text", "") for part in artifact.get("parts", ()))


def _apply_status(seen: Seen, status: Any, metadata: Any) -> None:
    seen.state = status["state"]
    seen.again = parse_resubscribe(metadata.get(ACTIVITY_EXTENSION)) is not None
    message = status.get("message", {})
    seen.said = "".join(part.get("text", "") for part in message.get("parts", ())) or seen.said
    for place in (metadata, message.get("metadata", {})):
        seen.code = place.get(ERROR_EXTENSION, {}).get("code", "") or seen.code
