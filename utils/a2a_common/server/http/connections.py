"""Bounds how many connections a server holds, and how long one may take to send the headers and the body of a request, and to
take the answer.

uvicorn has a limit of time for idle connections alone.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import h11
import structlog
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from utils.a2a_common.server.http.address import PROBES
from utils.a2a_common.server.http.answers import local_path, refusal
from utils.a2a_common.server.http.stalled_readers import StalledReaders, Unsent
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.processes.open_files import open_files

if TYPE_CHECKING:
    from utils.protection_settings import ProtectionSettings

log = structlog.get_logger(__name__)

TOO_MANY = "Too many connections. Send the same request again in a moment."

RETRY_SECONDS = 5

WRITE_STALLED = "write_stalled"
"""Code of a connection that is cut off because its client reads nothing."""

SPARE = 64
"""Connections past the limit that are answered. For any more, the one that has been idle longest is closed, so that the health
check is answered however many are idle; where none is idle, the new one is closed unread."""

GRACE_SECONDS = 5.0
"""Until the connection of a body that did not come is closed, so that its client can read the answer."""

REFUSED_SECONDS = 5.0
"""Longest time until the headers are there on a connection that is refused."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of a server's connections.

    Attributes:
        header_seconds: Longest time until the headers of a request are complete.
        body_seconds: Longest time from then until its body is complete.
        write_seconds: Longest time in which a client reads nothing of what waits for it.
        connections: Concurrent connections; 0 for no limit.
        per_address: Those of one address; 0 for no limit.
    """

    header_seconds: float = 20.0
    body_seconds: float = 30.0
    write_seconds: float = 60.0
    connections: int = 0
    per_address: int = 0


class RefusalCounter:
    """Counts refusals in the metrics, and limits their log to one entry per second and reason."""

    def __init__(self) -> None:
        self._at: dict[str, float] = {}

    def count(self, reason: str) -> bool:
        """Count a connection that was refused or cut off; return whether to log it."""
        count(catalogue.REFUSALS, reason=reason)
        now = asyncio.get_running_loop().time()
        due = now - self._at.get(reason, -1) >= 1
        if due:
            self._at[reason] = now
        return due


class BoundedConnection(H11Protocol):
    """uvicorn's protocol, which refuses connections past a limit, and closes those whose headers or bodies do not end in time,
    or whose clients read nothing of their answers.

    The time of the headers runs from the first byte of a request, or from the connection, until they are complete; that of the
    body from then until it is complete.
    """

    bounds = Bounds()
    seconds = bounds.header_seconds
    refusals = RefusalCounter()
    readers = StalledReaders(bounds.write_seconds, bool)
    active_at = 0.0
    _headers: asyncio.TimerHandle | None = None
    _body: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected: start the timer for its first request, or refuse it if there are too many connections."""
        super().connection_made(transport)
        count(catalogue.CONNECTIONS)
        self.readers.add(transport)
        self.active_at = self.loop.time()
        code = self._over()
        if not code:
            self._start_headers()
            return
        if self.refusals.count(code):
            log.warning("connection.refused", code=code, open=len(self.connections))
        limit = self.bounds.connections
        if limit and len(self.connections) > limit + SPARE and not self._make_room():
            transport.abort()
            return
        self.app = _Refusal(self.app)
        self.seconds = min(self.seconds, REFUSED_SECONDS)
        self._start_headers()

    def data_received(self, data: bytes) -> None:
        """Handle received bytes: the timer of the headers runs until they are complete, then that of the body."""
        super().data_received(data)
        self.active_at = self.loop.time()
        reading = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        if not reading:
            self._stop_headers()
        elif self._headers is None:
            self._start_headers()
        if self.conn.their_state is not h11.SEND_BODY:
            self._stop_body()
        elif self._body is None:
            self._body = self.loop.call_later(self.bounds.body_seconds + GRACE_SECONDS, self._close_body)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._stop_headers()
        self._stop_body()
        self.readers.remove(self.transport)
        count(catalogue.CONNECTIONS, -1)
        super().connection_lost(exc)

    @property
    def idle(self) -> bool:
        """Whether no request is under way, and no byte of one is here."""
        answered = self.cycle is None or self.cycle.response_complete
        waits = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        return answered and waits and not self.transport.is_closing()

    def _make_room(self) -> bool:
        """Close the connection that has been idle longest; whether there is one."""
        others = [
            each for each in self.connections if isinstance(each, BoundedConnection) and each is not self
        ]
        longest = min((each for each in others if each.idle), key=lambda each: each.active_at, default=None)
        if longest is None:
            return False
        longest.transport.close()
        return True

    def _over(self) -> str:
        """The limit that this connection exceeds; empty if none."""
        if 0 < self.bounds.connections < len(self.connections):
            return "connections"
        if not self.bounds.per_address or self.client is None:
            return ""
        own = sum(
            1
            for each in self.connections
            if (client := getattr(each, "client", None)) and client[0] == self.client[0]
        )
        return "connections_of_address" if own > self.bounds.per_address else ""

    def _start_headers(self) -> None:
        self._headers = self.loop.call_later(self.seconds, self._close_headers)

    def _stop_headers(self) -> None:
        if self._headers is not None:
            self._headers.cancel()
            self._headers = None

    def _close_headers(self) -> None:
        count(catalogue.REFUSALS, reason="headers_late")
        log.info("connection.closed", code="headers_late", seconds=self.seconds)
        self.transport.close()

    def _stop_body(self) -> None:
        if self._body is not None:
            self._body.cancel()
            self._body = None

    def _close_body(self) -> None:
        count(catalogue.REFUSALS, reason="body_late")
        log.info("connection.closed", code="body_late", seconds=self.bounds.body_seconds)
        self.transport.close()


class _Refusal:
    """Answers 503, except for the probes, which must still see that the agent is alive."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, and end the connection."""
        if scope["type"] == "http" and local_path(scope) in PROBES:
            await self._app(scope, receive, send)
            return
        response = refusal(scope, 503, TOO_MANY)
        response.headers.update({"Retry-After": str(RETRY_SECONDS), "Connection": "close"})
        await response(scope, receive, send)


def bounds_of(settings: ProtectionSettings) -> Bounds:
    """The limits from the settings, capped by the number of files that this process may open."""
    return Bounds(
        settings.header_timeout_seconds,
        settings.body_timeout_seconds,
        settings.write_timeout_seconds,
        connections_within(settings.max_connections),
        settings.connections_per_address,
    )


def bounded(bounds: Bounds) -> type[BoundedConnection]:
    """The protocol with these bounds."""
    refusals = RefusalCounter()

    def cut(unsent: Unsent) -> None:
        if refusals.count(WRITE_STALLED):
            log.warning(
                "connection.cut_off",
                code=WRITE_STALLED,
                seconds=bounds.write_seconds,
                bytes=unsent.buffered + unsent.queued,
            )

    readers = StalledReaders(bounds.write_seconds, cut)
    own = {"bounds": bounds, "seconds": bounds.header_seconds, "refusals": refusals, "readers": readers}
    return type("BoundedConnection", (BoundedConnection,), own)


def connections_within(limit: int, files: int | None = None) -> int:
    """The smaller of the limit and half of the files that the process may open: each connection is a file.

    Args:
        limit: The configured limit; 0 for no other limit than that.
        files: How many may be open; what this process may open now when omitted.
    """
    if files is None:
        files = open_files()
    return limit if not files else min(limit or files // 2, files // 2)
