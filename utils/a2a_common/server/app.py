"""A Starlette application that serves any agent over A2A."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import structlog
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import RequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.types.a2a_pb2 import AgentCard
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount
from starlette.types import Lifespan

from utils.a2a_common.engine.local import LocalEngine
from utils.a2a_common.engine.most import Most
from utils.a2a_common.engine.turn_engine import LEAST_REST, TurnEngine
from utils.a2a_common.engine.turn_runner import TurnRunner
from utils.a2a_common.handler.callers import CallerLimits
from utils.a2a_common.handler.consent import Consent
from utils.a2a_common.handler.disk_room import DiskRoom
from utils.a2a_common.handler.handler_parts import HandlerParts
from utils.a2a_common.handler.pending_input import NoPendingInput, PendingInputPolicy
from utils.a2a_common.handler.request_handler import PlatformRequestHandler
from utils.a2a_common.handler.webhooks import Webhooks
from utils.a2a_common.protocol.before_turn import MessageAnswers, Preparation
from utils.a2a_common.protocol.readiness import Readiness
from utils.a2a_common.server.call_context import CallContextBuilder, required_extensions
from utils.a2a_common.server.conversations import Conversations
from utils.a2a_common.server.deletion import Deletion, DeletionPlan
from utils.a2a_common.server.drain import Drain
from utils.a2a_common.server.grpc_credentials import server_credentials
from utils.a2a_common.server.grpc_server import UserOf, anonymous, start_grpc
from utils.a2a_common.server.http.active_extensions import ActiveExtensions
from utils.a2a_common.server.http.address import AddressGuard
from utils.a2a_common.server.http.answers import http_error, server_error
from utils.a2a_common.server.http.client_faults import leave_out_client_faults
from utils.a2a_common.server.http.event_lines import EventLines
from utils.a2a_common.server.http.framing import FramingGuard
from utils.a2a_common.server.http.own_middleware import authenticates
from utils.a2a_common.server.http.request_guard import RequestGuard
from utils.a2a_common.server.http.retry_after import CutOff, RetryAfter
from utils.a2a_common.server.page import is_of_page, page_routes
from utils.a2a_common.server.page_login import PageLogin
from utils.a2a_common.server.probes import metrics_route, nothing_stored, probe_routes
from utils.a2a_common.server.push import PushSender
from utils.a2a_common.server.push_delivery import PushPolicy
from utils.a2a_common.server.push_store import PushConfigs
from utils.a2a_common.server.rest_routes import rest_app
from utils.a2a_common.server.retention import Retention
from utils.a2a_common.server.webhook_urls import url_rule
from utils.a2a_common.tasks.log import TaskLog
from utils.auth.authenticator import Authenticator
from utils.errors import SettingsError
from utils.persistence.runs import MemoryRuns, RunStore
from utils.process_wide import install
from utils.settings import ServerSettings

if TYPE_CHECKING:
    from utils.a2a_common.engine.turn_queue import TurnQueue

log = structlog.get_logger(__name__)

CARD_PATHS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
"""Where the card stands: the path of protocol 1.0 and 0.3, and that of 0.2, which some clients still ask."""

STOPPING = "The agent is stopping."
"""What `/readyz` says once the process was told to stop."""

BEFORE_HTTP_ONLY = "The HTTP middleware of this agent does not stand before gRPC: do not set GRPC_PORT, unless AUTH_MODE is api-key or oidc."
"""Why an agent with middleware of its own has no gRPC."""

PUSH_LOOK_SECONDS = 60.0
"""Time between two looks for webhooks whose replica died before it had sent them everything."""

KNOWN_REQUESTS_PER_MINUTE = 1_200
KNOWN_OPEN_REQUESTS = 64
KNOWN_TURNS_MB = 16
"""What one caller may ask for where callers are known and nothing else is set."""

CARD_CACHE = "public, max-age=60"

Hook = Callable[[], Awaitable[None]]


async def nothing() -> None:
    """The hook of an agent that has nothing to start or stop."""


async def always_ready() -> Readiness:
    """The readiness of an agent that needs nothing."""
    return Readiness(ready=True)


@dataclass(frozen=True)
class AgentService:
    """The parts of an agent that its server needs.

    Attributes:
        card: The public card. Whether it announces an extended card is set by `build_app`.
        executor: Runs the turns.
        log: Keeps the tasks; opened before `on_start` and closed after `on_stop`.
        runs: Keeps the turns that have not ended, for the next process; in memory when omitted.
        readiness: Asked on every `/readyz`.
        on_start: Awaited before the first request is served.
        on_stop: Awaited after the last one.
        extended_card: What authenticated callers see. It is announced where `authenticator`, `grpc_user`, or Starlette's
            `AuthenticationMiddleware` among `middleware` can tell who calls.
        push_configs: Keeps the webhooks of tasks; in memory when omitted.
        middleware: The agent's own, authentication and the like, after the check of `Host` and `Origin` and before the limit of the
            body. Over HTTP only.
        grpc_user: Tells the caller of a gRPC call from its metadata. Without it all are anonymous, so
            that gRPC is refused to an agent that has `middleware`.
        pending_input: Decides about tasks that wait for their user; usually the agent.
        preparation: What the agent does about a message before its turn begins.
        deletion: How conversations are deleted, and when by themselves; callers cannot delete them when omitted.
        message_answers: Answer messages of the agent's own extensions.
        queue: The turns of all replicas of the agent, each of which runs some; this process runs its own when omitted.
        consent: Decides who may approve; with a key of this process alone when omitted.
        authenticator: Knows the callers, over HTTP and gRPC; everybody may call when omitted.
        url: Where the agent is reached; needed with `authenticator`.
        takes_files: Whether the executor reads parts that are neither text nor JSON objects: files, addresses
            of files, lists, where the card's input modes name their type. They are refused otherwise, since they
            would be left out in silence.
        page: Whether browsers get a page at `/`.
        page_login: Where people log in on it; they enter a key or a token when omitted.
        sizes: Bytes of what is stored, by kind, for `/metrics`.
        free_bytes: Tells the bytes that are free where it is stored; asked in a thread. Nothing is kept free when omitted.
    """

    card: AgentCard
    executor: AgentExecutor
    log: TaskLog
    runs: RunStore = field(default_factory=MemoryRuns)
    readiness: Callable[[], Awaitable[Readiness]] = always_ready
    on_start: Hook = nothing
    on_stop: Hook = nothing
    extended_card: AgentCard | None = None
    push_configs: PushConfigs = field(default_factory=PushConfigs)
    middleware: Sequence[Middleware] = field(default=())
    grpc_user: UserOf | None = None
    pending_input: PendingInputPolicy = field(default_factory=NoPendingInput)
    preparation: Preparation | None = None
    deletion: DeletionPlan | None = None
    message_answers: Sequence[MessageAnswers] = ()
    queue: TurnQueue | None = None
    takes_files: bool = False
    consent: Consent = field(default_factory=Consent)
    authenticator: Authenticator | None = None
    url: str = ""
    page: bool = False
    page_login: PageLogin | None = None
    sizes: Callable[[], Awaitable[Mapping[str, int]]] = nothing_stored
    free_bytes: Callable[[], int] | None = None


def build_app(service: AgentService, settings: ServerSettings) -> Starlette:
    """The application: JSON-RPC at `/`, HTTP+JSON under `/rest`, card, probes, metrics, and gRPC when a port is set.

    `app.state.grpc_port` and `app.state.metrics_port` are the ports of gRPC and of metrics and probes alone once the application has started, or `None`, and
    `app.state.drain` stops the agent in order.

    Raises:
        SettingsError: gRPC would go past the agent's own middleware, which may refuse callers.
    """
    install()
    asks_over_grpc = service.grpc_user is not None or service.authenticator is not None
    if settings.grpc_port is not None and service.middleware and not asks_over_grpc:
        raise SettingsError("GRPC_PORT", BEFORE_HTTP_ONLY)
    known_callers = authenticates(service.middleware) or asks_over_grpc
    service.card.capabilities.extended_agent_card = known_callers and service.extended_card is not None
    parts = assemble(service, settings)
    drain = Drain(
        parts.engine,
        service.log.elsewhere,
        pause=settings.shutdown_pause_seconds,
        grace=settings.shutdown_grace_seconds,
    )
    watched = [
        *probe_routes(_readiness(service, drain, parts.room)),
        metrics_route(service.sizes, parts.room.free),
    ]
    app = Starlette(
        routes=_routes(service, parts.handler, watched, settings),
        middleware=_guards(service, settings),
        exception_handlers={HTTPException: http_error, Exception: server_error},
        lifespan=_lifespan(service, parts, watched, settings),
    )
    app.router.redirect_slashes = False
    app.state.grpc_port = None
    app.state.metrics_port = None
    app.state.engine = parts.engine
    app.state.drain = drain
    return app


@dataclass(frozen=True)
class Parts:
    """The middleware that the requests of an agent pass through.

    Attributes:
        handler: Answers the operations of the protocol.
        engine: Runs the turns.
        push: Sends the events of tasks to webhooks.
    """

    handler: RequestHandler
    engine: TurnEngine
    push: PushSender
    room: DiskRoom


def assemble(service: AgentService, settings: ServerSettings) -> Parts:
    """Engine, push sender and handler over the log of a service."""
    engine = _engine(service, settings)
    policy = PushPolicy(allow_private=settings.push_allow_private)
    push = PushSender(service.log, service.push_configs, policy, engine.works_on)
    service.log.on_claim = push.follow
    room = DiskRoom(service.free_bytes, settings.disk_reserve_mb * 1024**2)
    rule = url_rule(allow_private=settings.push_allow_private)
    needs = HandlerParts(
        log=service.log,
        engine=engine,
        webhooks=Webhooks(service.log, service.push_configs, push, rule),
        card=service.card,
        extended_card=service.extended_card,
        pending_input=service.pending_input,
        takes_files=service.takes_files,
        consent=service.consent,
        answers=[*_conversations(service, engine), *service.message_answers],
        preparation=service.preparation,
        limits=_limits(service, settings),
        room=room,
    )
    return Parts(PlatformRequestHandler(needs), engine, push, room)


def _limits(service: AgentService, settings: ServerSettings) -> CallerLimits:
    """The limits per caller. Without authentication all callers count as one, and only limits that are set apply."""
    known = service.authenticator is not None
    usual = (KNOWN_REQUESTS_PER_MINUTE, KNOWN_OPEN_REQUESTS) if known else (0, 0)
    asked = (settings.caller_requests_per_minute, settings.caller_open_requests)
    per_minute, at_once = (
        default if value is None else value for value, default in zip(asked, usual, strict=True)
    )
    return CallerLimits(per_minute, at_once)


def _conversations(service: AgentService, engine: TurnEngine) -> list[Conversations]:
    if service.deletion is None:
        return []
    deletion = Deletion(service.deletion, service.log, service.push_configs)
    return [Conversations(service.log, engine, deletion, service.deletion.titles)]


def _engine(service: AgentService, settings: ServerSettings) -> TurnEngine:
    stop_seconds = max(LEAST_REST, settings.shutdown_grace_seconds)
    runner = TurnRunner(service.executor, service.log, stop_seconds=stop_seconds)
    known = service.authenticator is not None
    turns = None if known and settings.caller_turns is None else settings.caller_turns or 0
    mebibytes = settings.caller_turns_mb
    size = (KNOWN_TURNS_MB if known else 0) if mebibytes is None else mebibytes
    fair = known if settings.fair_turns is None else settings.fair_turns
    most = Most(turns, size * 1024**2)
    lines = {"max_turns": settings.max_concurrent_turns, "max_waiting": settings.max_waiting_turns}
    if service.queue is None:
        return LocalEngine(service.log, service.runs, runner, most=most, fair=fair, **lines)
    from utils.a2a_common.engine.distributed import DistributedEngine

    engine = DistributedEngine(
        service.log, service.runs, runner, service.queue, most=most, fair=fair, **lines
    )
    service.log.elsewhere.works_on = engine.works_on
    return engine


def _guards(service: AgentService, settings: ServerSettings) -> list[Middleware]:
    """The middleware of every request, from the outside in. Around it `BoundedConnection` bounds connections and their time.

    Behind it the SDK's routes read a request with `CallContextBuilder` (version, extensions, caller) and call the handler.
    """
    return [
        # a request that the stopping server abandons gets an answer: send it again
        Middleware(CutOff),
        # exactly one length per request, so that a proxy and the agent see the same requests
        Middleware(FramingGuard),
        # trailing slashes are removed from the path; a foreign `Host` or `Origin` is refused
        Middleware(AddressGuard, public_url=settings.public_url, allowed_hosts=settings.allowed_hosts),
        # authentication: a request without valid credentials goes no further
        *_gate(service),
        # the agent's own middleware
        *service.middleware,
        # the body is read once, with limits of size and time; anything but a JSON request is refused
        Middleware(RequestGuard, limit=settings.max_body_bytes, seconds=settings.body_timeout_seconds),
        # adds `Retry-After` to a request that the handler refused for now
        Middleware(RetryAfter),
        # each event of a stream stays on one line, even for readers that split at other characters
        Middleware(EventLines),
        # an answer names the requested extensions that are active
        Middleware(ActiveExtensions, card=service.card),
    ]


def _gate(service: AgentService) -> list[Middleware]:
    if service.authenticator is None:
        return []
    from utils.a2a_common.server.http.auth_gate import AuthGate

    page = {"page": is_of_page} if service.page else {}
    return [Middleware(AuthGate, authenticator=service.authenticator, url=service.url, **page)]


def _readiness(service: AgentService, drain: Drain, room: DiskRoom) -> Callable[[], Awaitable[Readiness]]:
    """The agent's own, while it takes turns and their tasks can be stored."""

    async def readiness() -> Readiness:
        if drain.begun:
            return Readiness(ready=False, detail=STOPPING)
        if reason := await service.log.not_written():
            return Readiness(ready=False, detail=reason)
        state = await service.readiness()
        trouble = service.authenticator.trouble if service.authenticator is not None else ""
        told = [state.detail, trouble, await room.note()]
        return replace(state, detail="; ".join(filter(None, told)))

    return readiness


def _routes(
    service: AgentService, handler: RequestHandler, watched: Sequence[BaseRoute], settings: ServerSettings
) -> list[BaseRoute]:
    grace = settings.shutdown_grace_seconds
    builder = CallContextBuilder(required_extensions(service.card))
    routes: list[BaseRoute] = [*watched]
    if service.authenticator is not None:
        from utils.a2a_common.server.http.auth_gate import metadata_route

        routes.append(metadata_route(service.authenticator, service.url))
    for path in CARD_PATHS:
        routes += create_agent_card_routes(service.card, card_url=path, cache_control=CARD_CACHE)
    leave_out_client_faults()
    routes += create_jsonrpc_routes(
        handler, "/", builder, enable_v0_3_compat=True, shutdown_grace_period=grace
    )
    if service.page:
        routes += page_routes(service.page_login)
    routes.append(Mount("/rest", app=rest_app(handler, builder, grace)))
    return routes


def _lifespan(
    service: AgentService, parts: Parts, watched: Sequence[BaseRoute], settings: ServerSettings
) -> Lifespan[Starlette]:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for store in (service.log, service.runs, service.push_configs):
                await store.open()
                stack.push_async_callback(store.close)
            if service.deletion is not None:
                await service.deletion.titles.open()
                stack.push_async_callback(service.deletion.titles.close)
            await service.on_start()
            stack.push_async_callback(service.on_stop)
            await parts.engine.start()
            parts.push.start(every=PUSH_LOOK_SECONDS if service.queue is not None else None)
            if service.deletion is not None and service.deletion.by_itself:
                retention = Retention(service.deletion, service.log, service.push_configs, parts.engine)
                retention.start()
                stack.push_async_callback(retention.stop)
            stack.push_async_callback(parts.push.aclose, settings.shutdown_grace_seconds)
            stack.push_async_callback(parts.engine.drain, 0)
            if settings.metrics_port is not None:
                from utils.a2a_common.server.metrics_server import serving_metrics

                alone = serving_metrics(watched, host=settings.host, port=settings.metrics_port)
                app.state.metrics_port = await stack.enter_async_context(alone)
            if settings.grpc_port is not None:
                server, app.state.grpc_port = await start_grpc(
                    parts.handler,
                    host=settings.host,
                    port=settings.grpc_port,
                    card=service.card,
                    max_body_bytes=settings.max_body_bytes,
                    user_of=service.grpc_user or anonymous,
                    authenticator=service.authenticator,
                    credentials=server_credentials(settings),
                    handshake_seconds=settings.header_timeout_seconds,
                    write_seconds=settings.write_timeout_seconds,
                    max_calls=settings.max_connections,
                )
                stack.push_async_callback(server.stop, settings.shutdown_grace_seconds)
            yield

    return lifespan
