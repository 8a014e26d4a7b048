"""Serves an agent over gRPC: protocol 1.0 and 0.3 on one port."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from a2a.auth.user import UnauthenticatedUser, User
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import RequestHandler
from a2a.server.request_handlers.grpc_handler import DefaultGrpcServerCallContextBuilder
from a2a.types.a2a_pb2 import AgentCard

from utils.a2a_common.protocol.declared import required_extensions
from utils.a2a_common.protocol.version import CURRENT, LEGACY, note_version
from utils.a2a_common.server.call_context import (
    VERSION_HEADER,
    check_extensions,
    served_version,
    without_credentials,
)
from utils.a2a_common.server.grpc.caller import KnownCaller, current_caller
from utils.auth.credential import keep_credential
from utils.auth.principal import PRINCIPAL

if TYPE_CHECKING:
    import grpc.aio

    from utils.auth.authenticator import Authenticator


METADATA_BYTES = 16_384
"""Largest metadata of a call: a token of the largest size fits, and larger metadata is answered here."""

STREAMS = 256
"""Concurrent calls of one connection; a client queues further ones. The supervisor has one connection to each agent."""

IDLE_MILLISECONDS = 300_000
"""Until a connection without a call is closed; clients connect again by themselves."""

PING_PART = 0.75
"""Fraction of the write time-out after which an idle client is pinged; it has to answer in the rest of that time.
A client that reads nothing does not answer, and its connection is closed with its calls.
"""

LONGEST_MILLISECONDS = 2**31 - 1

UserOf = Callable[[Mapping[str, str]], User]
"""Returns the user of a call's metadata (names in lower case); `UnauthenticatedUser()` if unknown."""


def anonymous(_metadata: Mapping[str, str]) -> User:
    """Treat every caller as anonymous."""
    return UnauthenticatedUser()


class GrpcCallContextBuilder(DefaultGrpcServerCallContextBuilder):
    """Checks version and extensions of a gRPC call and knows its caller, which the SDK does for HTTP only."""

    def __init__(self, required: frozenset[str], user_of: UserOf = anonymous, version: str = CURRENT) -> None:
        self._required = required
        self._user_of = user_of
        self._version = version

    def build(self, context: grpc.aio.ServicerContext) -> ServerCallContext:
        """The context of a gRPC call.

        Raises:
            VersionNotSupportedError: The version asked for is not served.
            ExtensionSupportRequiredError: A required extension is not declared.
        """
        built = super().build(context)
        served_version(_metadata(context).get(VERSION_HEADER.lower(), ""))
        note_version(built, self._version)
        check_extensions(built.requested_extensions, self._required)
        if isinstance(built.user, KnownCaller):
            built.state[PRINCIPAL] = built.user.principal
            keep_credential(built.state, _metadata(context).get("authorization", ""))
        without_credentials(built.state.get("headers", {}))
        return built

    def build_user(self, context: grpc.aio.ServicerContext) -> User:
        """The caller of a gRPC call."""
        return current_caller() or self._user_of(_metadata(context))


def _metadata(context: grpc.aio.ServicerContext) -> dict[str, str]:
    """The call's metadata; for a repeated name the last value."""
    return {
        str(key).lower(): value if isinstance(value, str) else value.decode("ascii", "replace")
        for key, value in context.invocation_metadata() or ()
    }


def _bound(server: grpc.aio.Server, address: str, credentials: grpc.ServerCredentials | None) -> int:
    """Listen; return the port."""
    if credentials is None:
        return int(server.add_insecure_port(address))
    return int(server.add_secure_port(address, credentials))


def _options(max_body_bytes: int, handshake_seconds: float, write_seconds: float) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", max_body_bytes),
        ("grpc.max_metadata_size", METADATA_BYTES),
        ("grpc.absolute_max_metadata_size", 2 * METADATA_BYTES),
        ("grpc.server_handshake_timeout_ms", _milliseconds(handshake_seconds)),
        ("grpc.max_concurrent_streams", STREAMS),
        ("grpc.max_connection_idle_ms", IDLE_MILLISECONDS),
        ("grpc.keepalive_time_ms", _milliseconds(write_seconds * PING_PART)),
        ("grpc.keepalive_timeout_ms", _milliseconds(write_seconds * (1 - PING_PART))),
    ]


def _interceptors(
    card: AgentCard, authenticator: Authenticator | None, body_seconds: float, write_seconds: float
) -> list[grpc.aio.ServerInterceptor]:
    """The interceptors of every call, from the outside in."""
    from utils.a2a_common.server.grpc.arrival import TimelyMessages
    from utils.a2a_common.server.grpc.extensions import ExtensionsInterceptor
    from utils.a2a_common.server.grpc.stalled import StalledStreams

    around: list[grpc.aio.ServerInterceptor] = [
        TimelyMessages(body_seconds),
        StalledStreams(write_seconds),
    ]
    if authenticator is not None:
        from utils.a2a_common.server.grpc.auth import AuthInterceptor

        around.append(AuthInterceptor(authenticator))
    return [*around, ExtensionsInterceptor(card)]


def _milliseconds(seconds: float) -> int:
    """As gRPC takes them: 24 days and 20 hours at most, beyond which it does not start."""
    return round(min(1000 * seconds, LONGEST_MILLISECONDS))


async def start_grpc(
    handler: RequestHandler,
    *,
    host: str,
    port: int,
    card: AgentCard,
    max_body_bytes: int,
    user_of: UserOf = anonymous,
    authenticator: Authenticator | None = None,
    credentials: grpc.ServerCredentials | None = None,
    handshake_seconds: float = 20.0,
    body_seconds: float = 30.0,
    write_seconds: float = 60.0,
    max_calls: int = 0,
) -> tuple[grpc.aio.Server, int]:
    """Start a gRPC server.

    Args:
        handler: Answers the calls.
        host: Address to listen on.
        port: Port, or 0 for a free one.
        card: Lists the supported extensions, and those that a caller must declare.
        max_body_bytes: Largest message that is received.
        user_of: Identifies the caller by a call's metadata.
        authenticator: Admits only callers that it knows; everyone when omitted.
        credentials: The certificate; without TLS when omitted.
        handshake_seconds: Longest time until a connection has sent the HTTP/2 preface.
        body_seconds: Longest time until the message of a call has arrived; then DEADLINE_EXCEEDED.
        write_seconds: Longest time in which a client reads nothing: of a stream, which ends then, or at all, which ends its connection.
        max_calls: Calls at once, open streams included; past it RESOURCE_EXHAUSTED. No limit for 0.

    Returns:
        The running server and its port.
    """
    import grpc.aio
    from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
    from a2a.types import a2a_pb2_grpc

    from utils.a2a_common.server.grpc.current import CurrentGrpc
    from utils.a2a_common.server.grpc.legacy import LegacyGrpc

    interceptors = _interceptors(card, authenticator, body_seconds, write_seconds)
    options = _options(max_body_bytes, handshake_seconds, write_seconds)
    server = grpc.aio.server(
        interceptors=interceptors, options=options, maximum_concurrent_rpcs=max_calls or None
    )
    builder = partial(GrpcCallContextBuilder, required_extensions(card), user_of)
    served: list[tuple[Any, object]] = [
        (a2a_pb2_grpc, CurrentGrpc(handler, builder(CURRENT))),
        (a2a_v0_3_pb2_grpc, LegacyGrpc(handler, builder(LEGACY))),
    ]
    for generated, servicer in served:
        generated.add_A2AServiceServicer_to_server(servicer, server)
    bound = _bound(server, f"{host}:{port}", credentials)
    await server.start()
    return server, bound
