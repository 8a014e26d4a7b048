"""A connection with a time-out for responses, for a server that is gone behind a proxy that keeps the connection open.

TCP detects a peer that vanished. Behind a pooler, a proxy or a sidecar the peer is that one, which still answers on TCP.
"""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress
from typing import Any, TypeVar

from psycopg import AsyncConnection
from psycopg.abc import PQGen
from psycopg.errors import ReadOnlySqlTransaction
from psycopg.pq import TransactionStatus

ANSWER_SECONDS = 60.0
"""How long a statement may take before its connection counts as lost: much longer than any statement of an agent takes or waits for a lock."""

RV = TypeVar("RV")


class AnsweringConnection(AsyncConnection[tuple[Any, ...]]):
    """Ends, as if the server had closed it, when a statement gets no response for `ANSWER_SECONDS`. Listening has no limit.

    Attributes:
        refused_write: Whether it leads to a server, or has a session, that took no write.
    """

    refused_write = False

    async def wait(self, gen: PQGen[RV], *args: Any, **kwargs: Any) -> RV:
        """Run a step of the protocol to its end."""
        timer = asyncio.get_running_loop().call_later(ANSWER_SECONDS, self._give_up)
        try:
            return await super().wait(gen, *args, **kwargs)
        except ReadOnlySqlTransaction:
            self.refused_write = True
            raise
        finally:
            timer.cancel()

    def _give_up(self) -> None:
        """Shut down the socket, so that the waiting read ends; a cancellation would need a response of the server."""
        if self.closed or self.pgconn.transaction_status != TransactionStatus.ACTIVE:
            return
        with suppress(OSError), socket.socket(fileno=os.dup(self.pgconn.socket)) as shut:
            shut.shutdown(socket.SHUT_RDWR)
