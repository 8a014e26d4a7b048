"""Closes connections whose request headers do not end in time. uvicorn has a limit of time for idle connections alone."""

from __future__ import annotations

import asyncio

import h11
import structlog
from uvicorn.protocols.http.h11_impl import H11Protocol

log = structlog.get_logger(__name__)


class HeaderTimeout(H11Protocol):
    """uvicorn's protocol, with a limit of time from the first byte of a request, or the connection, to the end of the headers."""

    seconds = 20.0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected: its first request has to come."""
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        """Bytes have come: the time runs on until the headers are whole."""
        super().data_received(data)
        reading = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        if not reading:
            self._stop()
        elif self._deadline is None:
            self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._stop()
        super().connection_lost(exc)

    def _start(self) -> None:
        self._deadline = self.loop.call_later(self.seconds, self._close)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        log.info("connection.closed", code="headers_late", seconds=self.seconds)
        self.transport.close()
