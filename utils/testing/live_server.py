"""A real server on a free loopback port, in the test's own event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp


IDLE_SECONDS = 3600
"""A server that closes an idle connection while its client sends on it, as on a machine that stalls, answers with an error."""


def loopback_socket(port: int = 0) -> socket.socket:
    """A listening socket on a port of 127.0.0.1, a free one by default, which no other process can take meanwhile."""
    # asyncio switches Nagle's delay off only on sockets that say they are TCP: 2 ms an answer, not 44.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(2048)
    return listener


@asynccontextmanager
async def running(
    app: ASGIApp,
    *,
    listener: socket.socket | None = None,
    http: type[asyncio.Protocol] | None = None,
    https: Mapping[str, Any] | None = None,
) -> AsyncIterator[str]:
    """Serve `app` with uvicorn and yield its base URL, without a trailing slash.

    Args:
        app: Any ASGI application; its lifespan is run.
        listener: A socket from `loopback_socket`, when the URL must be known before the app is built.
        http: The protocol of its connections; uvicorn's own when omitted.
        https: Options of uvicorn that make it speak HTTPS; plain HTTP when omitted.

    Raises:
        RuntimeError: The application did not start.
    """
    listener = listener or loopback_socket()
    ending = asyncio.Event()
    server = _quiet_server(app, ending, http, https or {})
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await _started(server, serving)
        yield f"{'https' if https else 'http'}://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        ending.set()
        with listener:
            await serving


def _quiet_server(
    app: ASGIApp, ending: asyncio.Event, http: type[asyncio.Protocol] | None, https: Mapping[str, Any]
) -> uvicorn.Server:
    import uvicorn

    class WithoutSignals(uvicorn.Server):
        """Leaves signal handlers and the event loop alone: several servers share one loop."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

        async def main_loop(self) -> None:
            # uvicorn's own looks ten times a second whether it shall end
            await self.on_tick(0)
            await ending.wait()

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            try:
                await super().startup(sockets=sockets)
            except (
                SystemExit
            ) as error:  # in a task it would stop the loop, with all that the other servers hold
                raise RuntimeError("The application did not start: its lifespan failed.") from error

    config = uvicorn.Config(
        app,
        log_config=None,
        lifespan="on",
        timeout_graceful_shutdown=1,
        timeout_keep_alive=IDLE_SECONDS,
        access_log=False,
        http=http or "auto",
        **https,
    )
    return WithoutSignals(config)


async def _started(server: uvicorn.Server, serving: asyncio.Task[None]) -> None:
    while not server.started:
        if serving.done():
            await serving
            raise RuntimeError("The server ended before it had started.")
        await asyncio.sleep(0.005)
