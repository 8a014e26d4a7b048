"""One A2A agent of anybody's, looked at from outside: its card, calls through the SDK, and raw JSON-RPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from a2a.client import A2AClientError, Client
from a2a.client.client import ClientCallContext
from a2a.types.a2a_pb2 import (
    AgentCard,
    GetTaskRequest,
    Message,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
)
from a2a.utils.errors import A2AError

from utils.a2a_common.client.stream.message import user_message
from utils.a2a_common.client.transport.card_address import card_address
from utils.a2a_common.client.transport.connection import fetch_card, http_client, sdk_client
from utils.a2a_common.client.transport.interfaces import BINDINGS
from utils.testing.contract.raw_answers import RawAnswers

if TYPE_CHECKING:
    import httpx

ENDED = frozenset(
    {
        TaskState.TASK_STATE_COMPLETED,
        TaskState.TASK_STATE_FAILED,
        TaskState.TASK_STATE_CANCELED,
        TaskState.TASK_STATE_REJECTED,
    }
)
WAITING = frozenset({TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED})


_MISSING = {
    "stream": "it needs a stream, and there was none",
    "answer": "it needs an answer, and there was none",
    "ended": "it needs a task that ended, and none did",
}


class Broken(Exception):
    """The agent does not keep the rule; says what it did instead."""


class Skipped(Exception):
    """The rule cannot be checked here; says why."""


@dataclass
class Session:
    """State that the checks share. Responses that several of them need are requested once.

    Attributes:
        url: Where the card was read.
        raw_card: The card as it was sent.
        card: The card as the SDK reads it.
        ask: The message to the agent.
        seconds: Longest wait for one answer.
        raw_answers: All that was sent, as it was sent.
        sent: Ids of the messages that the client sent.
    """

    url: str
    raw_card: dict[str, Any]
    card: AgentCard
    streaming: Client
    unary: Client
    http: httpx.AsyncClient
    ask: str
    seconds: float
    raw_answers: RawAnswers
    sent: set[str] = field(default_factory=set)
    _once: dict[str, Any] = field(default_factory=dict)

    async def send(self, *, context_id: str = "", task_id: str = "") -> Task | Message:
        """Send a message and wait for the answer."""
        sent = self._send(self.unary, context_id, task_id)
        async with asyncio.timeout(self.seconds), aclosing(sent) as answers:
            async for answer in answers:
                kind = answer.WhichOneof("payload")
                if kind in {"task", "message"}:
                    found: Task | Message = getattr(answer, kind)
                    return found
        raise Broken("the answer is neither a task nor a message")

    async def stream(self) -> list[StreamResponse]:
        """The events of one streamed message, requested once."""
        if not self.card.capabilities.streaming:
            raise Skipped("the card declares no streaming")
        found: list[StreamResponse] = await self._shared("stream", self._whole_stream)
        return found

    async def follow(self, *, context_id: str = "", task_id: str = "") -> AsyncIterator[StreamResponse]:
        """Send a message and follow it to the end of its stream."""
        sent = self._send(self.streaming, context_id, task_id)
        async with asyncio.timeout(self.seconds), aclosing(sent) as events:
            async for event in events:
                yield event

    async def streamed_task(self) -> list[StreamResponse]:
        """The same, where the agent made a task of it."""
        events = await self.stream()
        if events[0].WhichOneof("payload") == "message":
            raise Skipped("the agent answers with a message, without a task")
        return events

    async def answer(self) -> Task | Message:
        """The answer to one message, requested once."""
        found: Task | Message = await self._shared("answer", self.send)
        return found

    async def ended_task(self) -> Task:
        """A task that has come to its end."""
        found: Task = await self._shared("ended", self._until_ended)
        return found

    async def _until_ended(self) -> Task:
        answer = await self.answer()
        if isinstance(answer, Message):
            raise Skipped("the agent answers with a message, without a task")
        async with asyncio.timeout(self.seconds):
            while answer.status.state not in ENDED:
                if answer.status.state in WAITING:
                    raise Skipped("the task waits for its user; choose another --ask")
                await asyncio.sleep(0.2)
                answer = await self.unary.get_task(GetTaskRequest(id=answer.id), context=self.context)
        return answer

    async def _whole_stream(self) -> list[StreamResponse]:
        events = [event async for event in self.follow()]
        if not events:
            raise Broken("the stream ended without an event")
        return events

    async def _shared(self, what: str, make: Callable[[], Awaitable[Any]]) -> Any:
        """A value that several checks need: created once; a failure is reported once."""
        import httpx

        if what not in self._once:
            try:
                self._once[what] = await make()
            except (Broken, A2AError, A2AClientError, httpx.HTTPError, TimeoutError) as error:
                self._once[what] = error
                raise
        if isinstance(self._once[what], Exception):
            raise Skipped(_MISSING[what])
        return self._once[what]

    @property
    def lists_tasks(self) -> bool:
        """Whether the protocol that is spoken has lists of tasks: 0.3 has none."""
        spoken = [one for one in self.card.supported_interfaces if one.protocol_binding in BINDINGS]
        return any(not one.protocol_version.startswith("0.") for one in spoken)

    @property
    def context(self) -> ClientCallContext:
        """Options of one call."""
        return ClientCallContext(timeout=self.seconds)

    @property
    def rpc_url(self) -> str:
        """Where the agent takes JSON-RPC of protocol 1.0."""
        for interface in self.card.supported_interfaces:
            if interface.protocol_binding == "JSONRPC" and interface.protocol_version.startswith("1"):
                return interface.url
        raise Skipped("the card names no JSON-RPC interface of protocol 1.0")

    async def rpc(self, body: Any, version: str = "1.0") -> dict[str, Any]:
        """What the agent answers to a JSON-RPC body, which may be wrong on purpose."""
        content = {"content": body} if isinstance(body, bytes) else {"json": body}
        headers = {"A2A-Version": version, "Content-Type": "application/json"}
        answer = await self.http.post(self.rpc_url, headers=headers, timeout=self.seconds, **content)
        decoded = answer.json()
        if not isinstance(decoded, dict):
            raise Broken(f"the answer is no JSON object (HTTP {answer.status_code})")
        return decoded

    async def method(
        self, name: str, params: Any, version: str = "1.0", *, rpc_id: str | int = 1
    ) -> dict[str, Any]:
        """One JSON-RPC call."""
        return await self.rpc({"jsonrpc": "2.0", "id": rpc_id, "method": name, "params": params}, version)

    def _send(self, client: Client, context_id: str = "", task_id: str = "") -> Any:
        message = user_message(self.ask, context_id=context_id, task_id=task_id)
        self.sent.add(message.message_id)
        return client.send_message(SendMessageRequest(message=message), context=self.context)


@asynccontextmanager
async def open_session(url: str, ask: str, seconds: float) -> AsyncIterator[Session]:
    """Read the card and make clients for it.

    Raises:
        PeerError: There is no response, no card that the SDK can parse, or no interface with a supported
            binding.
        httpx.HTTPError: The card was available at first, but not the second time.
    """
    async with http_client(url) as http:
        raw_answers = RawAnswers()
        http.headers["Accept-Encoding"] = "identity"  # bodies are kept as they come
        http.event_hooks = {**http.event_hooks, "response": [raw_answers.keep]}
        card = await fetch_card(http, url)
        raw = (await http.get(card_address(url), timeout=seconds)).json()
        streaming, unary = sdk_client(card, http), sdk_client(card, http, streaming=False)
        yield Session(url, raw, card, streaming, unary, http, ask, seconds, raw_answers)
