"""A separate port for `/metrics` and the probes: for a scraper and a kubelet without the credentials of the agent's callers.

It speaks plain HTTP: a kubelet has no certificate.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from utils.errors import SettingsError

_CONNECTIONS = 50
"""Connections at the same time; a scraper has one, and each probe."""


class _SideServer(uvicorn.Server):
    """Leaves the signals to the agent's own server."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving_metrics(routes: Sequence[BaseRoute], *, host: str, port: int) -> AsyncIterator[int]:
    """Serve the routes, and nothing else, within the block; the port is yielded.

    Raises:
        SettingsError: Nothing can listen there.
    """
    config = uvicorn.Config(
        Starlette(routes=routes),
        lifespan="off",
        log_config=None,
        access_log=False,
        ws="none",
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=1,
    )
    try:
        listener = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError as error:
        sentence = (
            f"Nothing can listen at port {port} of {host}: another program may use it. Set METRICS_PORT."
        )
        raise SettingsError("METRICS_PORT", sentence) from error
    server = _SideServer(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield int(listener.getsockname()[1])
    finally:
        server.should_exit = True
        with listener:
            await serving
