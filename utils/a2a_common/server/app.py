"""A Starlette application that serves any agent over A2A."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import structlog
from a2a.server.request_handlers import RequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount
from starlette.types import Lifespan

from utils.a2a_common.handler.disk_room import DiskRoom
from utils.a2a_common.protocol.declared import required_extensions
from utils.a2a_common.protocol.readiness import Readiness
from utils.a2a_common.server.agent_service import AgentService
from utils.a2a_common.server.assembly import Parts, assemble
from utils.a2a_common.server.call_context import CallContextBuilder
from utils.a2a_common.server.drain import Drain
from utils.a2a_common.server.grpc.credentials import server_credentials
from utils.a2a_common.server.grpc.server import anonymous, start_grpc
from utils.a2a_common.server.http.active_extensions import ActiveExtensions
from utils.a2a_common.server.http.address import AddressGuard
from utils.a2a_common.server.http.answers import http_error, server_error
from utils.a2a_common.server.http.client_faults import leave_out_client_faults
from utils.a2a_common.server.http.event_lines import EventLines
from utils.a2a_common.server.http.framing import FramingGuard
from utils.a2a_common.server.http.own_middleware import authenticates
from utils.a2a_common.server.http.page import is_of_page, page_routes
from utils.a2a_common.server.http.probes import metrics_route, probe_routes
from utils.a2a_common.server.http.request_guard import RequestGuard
from utils.a2a_common.server.http.rest_routes import rest_app
from utils.a2a_common.server.http.retry_after import CutOff, RetryAfter
from utils.a2a_common.server.retention import Retention
from utils.errors import SettingsError
from utils.process_wide import install
from utils.settings import ServerSettings

log = structlog.get_logger(__name__)

CARD_PATHS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
"""The paths of the card: that of protocol 1.0 and 0.3, and that of 0.2, which some clients still use."""

STOPPING = "The agent is stopping."
"""The detail of `/readyz` after the process has received the signal to stop."""

BEFORE_HTTP_ONLY = "The HTTP middleware of this agent does not stand before gRPC: do not set GRPC_PORT, unless AUTH_MODE is api-key or oidc."
"""Why an agent with middleware of its own has no gRPC."""

PUSH_LOOK_SECONDS = 60.0
"""Time between two looks for webhooks whose replica died before it had sent them everything."""

CARD_CACHE = "public, max-age=60"


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
        service.log.other_replicas,
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
        details = [state.detail, trouble, await room.note()]
        return replace(state, detail="; ".join(filter(None, details)))

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
                from utils.a2a_common.server.http.metrics_server import serving_metrics

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
                    body_seconds=settings.body_timeout_seconds,
                    write_seconds=settings.write_timeout_seconds,
                    max_calls=settings.max_connections,
                )
                stack.push_async_callback(server.stop, settings.shutdown_grace_seconds)
            yield

    return lifespan
