"""Cuts off connections whose clients read nothing of what was sent to them.

Each holds its complete response in memory, and no other limit ends it: uvicorn's applies to idle connections only, and closing
a connection waits until everything is written.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass

import structlog

log = structlog.get_logger(__name__)

_LOOKS = 8
"""Looks at each connection within the time that it may make no progress. Looks are counted instead of time: while this process itself
was suspended, its clients could read nothing.
"""

_RESET = struct.pack("ii", 1, 0)
"""Closes a socket without its send buffer, which the system would otherwise try to send for minutes."""


@dataclass(frozen=True, slots=True)
class Unsent:
    """What was written to a connection and has not reached its client.

    Attributes:
        buffered: Bytes in this process.
        queued: Bytes in the system's buffer that the client's system has not taken; 0 where the system does not report it.
    """

    buffered: int
    queued: int

    def is_stalled(self, before: Unsent) -> bool:
        """Whether the client read nothing since `before`: each read changes the system's buffer at once, and this process' buffer seldom."""
        some = self.buffered or self.queued
        return bool(some) and self.queued == before.queued and self.buffered >= before.buffered


NONE = Unsent(0, 0)


class StalledReaders:
    """Looks at the connections of one server, and cuts off those without progress for too long.

    A client that reads slowly but steadily is never cut off, and neither is a stream without events.

    Args:
        seconds: How long a connection may make no progress.
        on_cut: Called with the unsent bytes of each cut connection.
    """

    def __init__(self, seconds: float, on_cut: Callable[[Unsent], object]) -> None:
        self._seconds = seconds
        self._on_cut = on_cut
        self._seen: dict[
            asyncio.Transport, tuple[int, Unsent]
        ] = {}  # number of looks without progress, and the state then
        self._next: asyncio.TimerHandle | None = None

    def add(self, transport: asyncio.Transport) -> None:
        """Look at a connection from now on."""
        loop = asyncio.get_running_loop()
        self._seen[transport] = (0, NONE)
        if self._next is None:
            self._next = loop.call_later(self._seconds / _LOOKS, self._look, loop)

    def remove(self, transport: asyncio.Transport) -> None:
        """The connection has ended."""
        self._seen.pop(transport, None)
        if not self._seen and self._next is not None:
            self._next.cancel()
            self._next = None

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._next = loop.call_later(self._seconds / _LOOKS, self._look, loop)
        for transport, (looks, before) in list(self._seen.items()):
            unsent = _unsent(transport)
            stands = looks + 1 if unsent.is_stalled(before) else 0
            self._seen[transport] = (stands, unsent)
            if stands >= _LOOKS:
                self.remove(transport)
                self._on_cut(unsent)
                _reset(transport)


def _unsent(transport: asyncio.Transport) -> Unsent:
    return Unsent(transport.get_write_buffer_size(), _queued(transport.get_extra_info("socket")))


def _queued(connection: socket.socket | None) -> int:
    """Bytes in the system's send buffer; 0 where the system does not report them."""
    try:
        import fcntl
        import termios
    except ImportError:  # Windows
        return 0
    if connection is None:
        return 0
    try:
        queued = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4))
    except OSError:  # not on this system, or no longer open
        return 0
    return int.from_bytes(queued, "little")


def _reset(transport: asyncio.Transport) -> None:
    connection = transport.get_extra_info("socket")
    if connection is not None:
        try:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        except OSError as error:  # the connection ends a little later
            log.debug("connection.not_reset", errno=error.errno)
    transport.abort()
