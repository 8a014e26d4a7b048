"""One agent at one address: its card, and the calls of the A2A protocol as events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, A2AClientError, AgentCardResolutionError, Client, ClientConfig
from a2a.client.client import ClientCallContext
from a2a.client.client_factory import ClientFactory
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
)
from a2a.utils.errors import A2AError
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value

from multi_agents.cli.errors import AgentRefused, ConnectionLost, ServiceUnreachable, UsageError
from multi_agents.cli.peer.decode import decode
from multi_agents.cli.peer.events import PeerEvent
from utils.a2a_common.client.client_pool import IDLE_SECONDS
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION
from utils.net.loopback import is_loopback

CONNECT_SECONDS = 10.0
CALL_SECONDS = 30.0
NO_CARD = "{} answers, but what it sends is no A2A agent card."
BINDINGS = ["JSONRPC", "HTTP+JSON"]


@dataclass(frozen=True, slots=True)
class Peer:
    """An agent that answered with its card. Methods raise `CliError`s with a plain sentence."""

    url: str
    card: AgentCard
    client: Client

    @property
    def streams(self) -> bool:
        """Whether the agent sends its answer while it works."""
        return bool(self.card.capabilities.streaming)

    async def send(
        self, text: str, *, context_id: str, task_id: str = "", data: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[PeerEvent, None]:
        """Send one message, once, with a data part where there is `data`.

        A break raises `ConnectionLost`; the end of the stream proves nothing.
        """
        message = Message(
            message_id=str(uuid4()),
            role=Role.ROLE_USER,
            parts=[Part(text=text), *([] if data is None else [Part(data=ParseDict(dict(data), Value()))])],
            context_id=context_id,
            task_id=task_id,
            extensions=[ACTIVITY_EXTENSION],
        )
        with _plain_errors(self.url):
            stream = self.client.send_message(SendMessageRequest(message=message), context=_context())
            async for response in stream:
                for event in decode(response):
                    yield event

    async def subscribe(self, task_id: str) -> AsyncGenerator[PeerEvent, None]:
        """The events of a task that runs already, from a snapshot on."""
        with _plain_errors(self.url):
            request = SubscribeToTaskRequest(id=task_id)
            async for response in self.client.subscribe(request, context=_context()):
                for event in decode(response):
                    yield event

    async def get_task(self, task_id: str) -> Task:
        """The task as it stands."""
        with _plain_errors(self.url):
            return await self.client.get_task(GetTaskRequest(id=task_id), context=_context(CALL_SECONDS))

    async def list_tasks(self, *, context_id: str = "", limit: int = 50) -> list[Task]:
        """The caller's tasks, newest first, without their artifacts. `limit` is at most 100."""
        request = ListTasksRequest(context_id=context_id, page_size=limit, history_length=1)
        with _plain_errors(self.url):
            response = await self.client.list_tasks(request, context=_context(CALL_SECONDS))
        return list(response.tasks)

    async def cancel(self, task_id: str) -> Task:
        """Ask the agent to cancel a task."""
        with _plain_errors(self.url):
            return await self.client.cancel_task(
                CancelTaskRequest(id=task_id), context=_context(CALL_SECONDS)
            )


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Peer]:
    """Read the card at `url` and open a client for it.

    Raises:
        UsageError: `url` is not an http or https address.
        ServiceUnreachable: Nobody answers there, or it is no A2A agent.
    """
    base = _checked(url)
    async with http_client(base) as http:
        card = await read_card(http, base)
        config = ClientConfig(
            httpx_client=http, supported_protocol_bindings=BINDINGS, polling=not card.capabilities.streaming
        )
        try:
            client = ClientFactory(config).create(card)
        except ValueError as error:
            known = ", ".join(sorted({one.protocol_binding for one in card.supported_interfaces})) or "none"
            raise ServiceUnreachable(
                f"The agent at {base} offers neither JSON-RPC nor HTTP+JSON (it offers: {known})."
            ) from error
        yield Peer(base, card, client)


async def read_card(http: httpx.AsyncClient, url: str) -> AgentCard:
    """The agent card at `url`.

    Raises:
        ServiceUnreachable: There is none, or it names a loopback address though it was read from elsewhere.
    """
    try:
        card = await A2ACardResolver(http, url).get_agent_card(http_kwargs={"timeout": CONNECT_SECONDS})
    except AgentCardResolutionError as error:
        raise ServiceUnreachable(_card_problem(url, error)) from error
    if not card.supported_interfaces:
        raise ServiceUnreachable(NO_CARD.format(url))
    problem = loopback_problem(url, card)
    if problem:
        raise ServiceUnreachable(problem)
    return card


def loopback_problem(url: str, card: AgentCard) -> str | None:
    """A sentence when a card that was read from another machine names an address of this one."""
    if is_loopback(url):
        return None
    for interface in card.supported_interfaces:
        if is_loopback(interface.url):
            return (
                f"The card at {url} names the loopback address {interface.url}, which is this machine. "
                "Set PUBLIC_URL on that agent to the address that clients reach it at."
            )
    return None


def http_client(url: str) -> httpx.AsyncClient:
    """An HTTP client that waits for a silent stream, and ignores proxies on loopback."""
    timeout = httpx.Timeout(CONNECT_SECONDS, read=None)
    limits = httpx.Limits(keepalive_expiry=IDLE_SECONDS)
    return httpx.AsyncClient(timeout=timeout, limits=limits, trust_env=not is_loopback(url))


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError(f"{url} is not an address; write it as http://host:port.")
    return url.rstrip("/")


def _card_problem(url: str, error: AgentCardResolutionError) -> str:
    if error.status_code is not None:
        return f"{url} answers, but not with an A2A agent card (HTTP {error.status_code})."
    if isinstance(error.__cause__, httpx.TransportError):
        return f"No agent answers at {url}."
    return NO_CARD.format(url)


def _context(timeout: float | None = None) -> ClientCallContext:
    return ClientCallContext(timeout=timeout, service_parameters={"A2A-Extensions": ACTIVITY_EXTENSION})


@contextmanager
def _plain_errors(url: str) -> Iterator[None]:
    """The SDK's errors as ours: the transport's apart from what the agent itself said."""
    try:
        yield
    except A2AClientError as error:
        if isinstance(error.__cause__, httpx.TransportError):
            raise ConnectionLost(f"The connection to {url} was lost.") from error
        raise AgentRefused(f"The agent at {url} sent an answer that cannot be used: {error}") from error
    except A2AError as error:
        raise AgentRefused(f"The agent refused the request: {error.message}") from error
    except httpx.TransportError as error:
        raise ConnectionLost(f"The connection to {url} was lost.") from error
