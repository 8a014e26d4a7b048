"""The connection to one A2A agent: its card, its HTTP client, and the calls of the protocol with typed errors.

Every value that comes back was bounded (`limits.py`) and checked for what could be neither stored nor shown.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from utils.a2a_common.client.transport.card_address import card_address
from utils.a2a_common.client.transport.errors import (
    CertificateRefused,
    ConnectionLost,
    OwnFault,
    RequestRefused,
    UnusableAnswer,
    guarded,
    typed_errors,
)
from utils.a2a_common.client.transport.interfaces import (
    BINDINGS,
    NoInterface,
    accepted_modes,
    check_required,
    with_web_addresses,
)
from utils.a2a_common.client.transport.sentences import SUB_AGENT_ANSWER_WRONG
from utils.a2a_common.protocol.declared import declares, only_reads, required_extensions
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, MATCHES_ANSWERS, QUESTION_EXTENSION
from utils.a2a_common.protocol.json_values import complaint_about
from utils.a2a_common.protocol.trace_context import trace_hook
from utils.errors import PeerLimitExceeded, ProtocolViolation
from utils.net.loopback import is_loopback, is_without_domain

if TYPE_CHECKING:
    import ssl

    import httpx
    from a2a.client import Client
    from a2a.client.client import ClientCallContext
    from a2a.types.a2a_pb2 import (
        AgentCard,
        ListTasksRequest,
        ListTasksResponse,
        Message,
        StreamResponse,
        Task,
    )
    from google.protobuf.message import Message as ProtoMessage

    from utils.a2a_common.client.transport.credentials import Credentials
    from utils.a2a_common.client.transport.limits import PeerLimits

CONNECT_SECONDS = 5.0
CALL_SECONDS = 30.0
"""Longest wait for one look at a task, a list or a cancel."""

LARGEST_PAGE = 100
"""Tasks that an agent lists at once."""

_CONNECTIONS = 32
_IDLE_CONNECTIONS = 4
"""Kept open for the next call. A pool sees that the peer closed one only when it is used again, so that many idle ones
would stay half-closed."""
IDLE_SECONDS = 2.0
"""Less than the 5 s after which uvicorn, like Node, closes an idle connection: a request that crosses that close on its
way is lost with a reset, and may not always be sent again."""


BROKEN_OFF = (
    "It ended the connection without an answer: it may want another certificate than it was shown, if any."
)


class NoCard(UnusableAnswer):
    """Something answers at the address, and not with an agent card."""

    def __init__(self, reason: str, status: int | None) -> None:
        super().__init__(reason, status=status)


def http_client(
    url: str,
    limits: PeerLimits | None = None,
    credentials: Credentials | None = None,
    tls: ssl.SSLContext | None = None,
    *,
    own: bool = False,
) -> httpx.AsyncClient:
    """A client for one agent. A stream may be silent for long, so that reads have no time-out of their own.

    Proxies of the environment are ignored for this machine and for names without a domain. Requests carry the current trace on to an
    agent of ours, and begin one of their own elsewhere.

    Args:
        url: Where the agent is.
        limits: The limits of its responses; those for any server when omitted.
        credentials: The credentials of its callers.
        tls: From `client_context`; when omitted, the machine's authorities and no client certificate.
        own: Whether the agent is ours.
    """
    import httpx

    from utils.a2a_common.client.transport.answer_ids import AnswerIds
    from utils.net.bounded import LARGEST_EVENT, Bound
    from utils.net.web_client import web_client

    bound = Bound(limits.most, limits.most) if limits else Bound(event=LARGEST_EVENT)
    hooks = [trace_hook(limits.agent if limits else "", own=own), *([credentials.add] if credentials else [])]

    http = web_client(
        bound,
        request=[guarded(hook) for hook in hooks],
        response=[limits.bound] if limits else [],
        verify=tls or True,
        headers={"Accept-Encoding": "identity"} if limits else None,
        timeout=httpx.Timeout(CONNECT_SECONDS, read=None, pool=CONNECT_SECONDS),
        limits=httpx.Limits(
            max_connections=_CONNECTIONS,
            max_keepalive_connections=_IDLE_CONNECTIONS,
            keepalive_expiry=IDLE_SECONDS,
        ),
        **_past_proxies(url),
    )
    # after the hook of the size limit, which decompresses the body
    http.event_hooks["response"].append(AnswerIds(limits.agent if limits else url).match)
    return http


def _past_proxies(url: str) -> dict[str, Any]:
    """Options of a client that ignores the proxies of the environment.

    For a service name in the own network the other variables of the environment apply, such as SSL_CERT_FILE.
    """
    if is_loopback(url):
        return {"trust_env": False}
    return {"mounts": {"http://": None, "https://": None, "all://": None}} if is_without_domain(url) else {}


async def fetch_card(http: httpx.AsyncClient, url: str, *, seconds: float | None = None) -> AgentCard:
    """The agent card at `url`, which is the card's own address or that of its agent.

    Args:
        http: The client.
        url: The address.
        seconds: How long an agent that is connected may take to answer; `CONNECT_SECONDS` if `None`.

    Raises:
        ConnectionLost: Nothing answers there.
        CertificateRefused: One side does not trust the certificate of the other. An agent that ends the connection in
            place of an answer over https counts as such: with TLS 1.3 the alert about our certificate is often lost with it.
        NoCard: The server is not an A2A agent.
    """
    import httpx
    from a2a.client import A2ACardResolver

    timeout = httpx.Timeout(CONNECT_SECONDS if seconds is None else seconds, connect=CONNECT_SECONDS)
    scheme, host, path, query, _ = urlsplit(card_address(url))
    resolver = A2ACardResolver(http, f"{scheme}://{host}")
    try:
        with typed_errors():
            return await resolver.get_agent_card(f"{path}?{query}" if query else path, {"timeout": timeout})
    except ConnectionLost as error:
        if error.sent and urlsplit(url).scheme == "https":
            raise CertificateRefused(BROKEN_OFF) from error
        raise
    except UnusableAnswer as error:
        status = getattr(error.__cause__, "status_code", None)
        raise NoCard(error.reason, status) from error
    except ValueError as error:  # such as a body that cannot be decoded
        raise NoCard(type(error).__name__, None) from error


def card_text(card: AgentCard) -> str:
    """A card as the JSON that `stored_card` reads."""
    from google.protobuf.json_format import MessageToJson

    return MessageToJson(card, indent=None)


def stored_card(text: str, limits: PeerLimits) -> AgentCard | None:
    """A card that was stored, checked as a fresh one is; `None` for one that would not be taken."""
    from a2a.client.card_resolver import parse_agent_card
    from google.protobuf.json_format import ParseError

    try:
        limits.check(text.encode(), "a card", limits.most)
        return parse_agent_card(json.loads(text))
    except (PeerLimitExceeded, ParseError, ValueError, TypeError, AttributeError, RecursionError):
        return None


def sdk_client(card: AgentCard, http: httpx.AsyncClient, *, streaming: bool = True) -> Client:
    """The SDK's client for the agent of a card, over HTTP.

    Raises:
        NoInterface: The card names no address of the web with a supported binding.
    """
    from a2a.client import ClientConfig
    from a2a.client.client_factory import ClientFactory

    config = ClientConfig(
        httpx_client=http,
        supported_protocol_bindings=list(BINDINGS),
        streaming=streaming,
        accepted_output_modes=accepted_modes(card),
    )
    try:
        return ClientFactory(config).create(with_web_addresses(card))
    except ValueError as error:  # how the SDK reports that it can use none of the interfaces
        raise NoInterface(sorted({each.protocol_binding for each in card.supported_interfaces})) from error


@dataclass(frozen=True, slots=True)
class Connection:
    """Calls to one agent.

    Attributes:
        name: The name of the agent in error messages.
        card: Its card.
        client: The SDK's client.
        http: The HTTP client.
    """

    name: str
    card: AgentCard
    client: Client
    http: httpx.AsyncClient

    @classmethod
    def open(cls, name: str, card: AgentCard, http: httpx.AsyncClient) -> Connection:
        """A connection to the agent of a card.

        Raises:
            NoInterface: The card names no address that can be used.
            ExtensionRequired: It requires an extension that is not spoken here.
        """
        check_required(card)
        return cls(name, card, sdk_client(card, http), http)

    @property
    def streams(self) -> bool:
        """Whether the agent sends its answer while it works."""
        return bool(self.card.capabilities.streaming)

    @property
    def reports_activity(self) -> bool:
        """Whether its card declares the activity extension."""
        return declares(self.card, ACTIVITY_EXTENSION)

    @property
    def only_reads(self) -> bool:
        """Whether its card declares that the agent changes nothing."""
        return only_reads(self.card)

    @property
    def knows_senders(self) -> bool:
        """Whether the card declares that answers to questions carry a nonce."""
        return declares(self.card, QUESTION_EXTENSION)

    @property
    def knows_repeated(self) -> bool:
        """Whether its card declares that a repeated message is recognised by its id, and not carried out twice."""
        return self.knows_senders

    @property
    def matches_answers(self) -> bool:
        """Whether its card declares that it decides if a message without a task answers a question; otherwise the message names the task."""
        params = [each.params for each in self.card.capabilities.extensions if each.uri == QUESTION_EXTENSION]
        return any(MATCHES_ANSWERS in each and each[MATCHES_ANSWERS] is True for each in params)

    async def send(self, message: Message) -> AsyncGenerator[StreamResponse, None]:
        """Send one message, once. The end of the stream proves nothing.

        An agent that does not stream is asked to answer at once, so that its task is known and can be canceled; not so for
        a reply, whose answer would be the question that it replies to.
        """
        from a2a.types.a2a_pb2 import SendMessageRequest

        request = SendMessageRequest(message=message)
        request.configuration.return_immediately = not self.streams and not message.task_id
        async with aclosing(
            self._checked(self.client.send_message(request, context=self._context()))
        ) as stream:
            async for response in stream:
                yield response

    async def subscribe(self, task_id: str) -> AsyncGenerator[StreamResponse, None]:
        """Subscribe to a running task: a snapshot, then its events."""
        from a2a.types.a2a_pb2 import SubscribeToTaskRequest

        request = SubscribeToTaskRequest(id=task_id)
        async with aclosing(self._checked(self.client.subscribe(request, context=self._context()))) as stream:
            async for response in stream:
                yield response

    async def get_task(self, task_id: str) -> Task:
        """The current task."""
        from a2a.types.a2a_pb2 import GetTaskRequest

        request, context = GetTaskRequest(id=task_id), self._context(CALL_SECONDS)
        with typed_errors():
            task = await self.client.get_task(request, context=context)
        self._check(task)
        return task

    async def list_tasks(
        self, context_id: str = "", *, limit: int = 50, history: int | None = None, artifacts: bool = False
    ) -> Sequence[Task]:
        """The caller's tasks, newest first: as many as `limit`, page by page; `history` is how many messages of each."""
        from a2a.types.a2a_pb2 import ListTasksRequest

        found: list[Task] = []
        token = ""
        while len(found) < limit:
            request = ListTasksRequest(
                context_id=context_id,
                page_size=min(limit - len(found), LARGEST_PAGE),
                page_token=token,
                history_length=history,
                include_artifacts=artifacts,
            )
            listed = await self._listed(request)
            self._check(listed)
            found += listed.tasks
            token = listed.next_page_token
            if not token or not listed.tasks:
                break
        return found[:limit]

    async def _listed(self, request: ListTasksRequest) -> ListTasksResponse:
        context = self._context(CALL_SECONDS)
        try:
            with typed_errors():
                return await self.client.list_tasks(request, context=context)
        except NotImplementedError as error:  # how the SDK reports that protocol 0.3 has no such call
            raise RequestRefused("", unsupported=True) from error

    async def cancel(self, task_id: str) -> Task:
        """Ask the agent to cancel a task."""
        from a2a.types.a2a_pb2 import CancelTaskRequest

        request, context = CancelTaskRequest(id=task_id), self._context(CALL_SECONDS)
        with typed_errors():
            return await self.client.cancel_task(request, context=context)

    def _context(self, seconds: float | None = None) -> ClientCallContext:
        """Options of a call: its time limit, and what is spoken here of the extensions that the card declares or requires.

        Raises:
            OwnFault: The connection was closed here. The SDK would report that as an unusable answer.
        """
        from a2a.client.client import ClientCallContext

        if self.http.is_closed:
            raise OwnFault(f"The connection to the agent {self.name} is closed.")
        spoken = sorted(
            required_extensions(self.card) | ({ACTIVITY_EXTENSION} if self.reports_activity else set())
        )
        parameters = {"A2A-Extensions": ", ".join(spoken)} if spoken else {}
        return ClientCallContext(timeout=seconds, service_parameters=parameters)

    async def _checked(self, stream: AsyncIterator[StreamResponse]) -> AsyncGenerator[StreamResponse, None]:
        with typed_errors():
            async for response in stream:
                self._check(response)
                yield response

    def _check(self, sent: ProtoMessage) -> None:
        """Refuse values that could be neither stored nor shown to the user."""
        if complaint := complaint_about(sent):
            raise ProtocolViolation(SUB_AGENT_ANSWER_WRONG.format(agent=self.name, complaint=complaint))
