"""Serves an ASGI application in a thread of its own, so that plain and asynchronous tests can call it."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from utils.testing.live_server import IDLE_SECONDS

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

GRACE_SECONDS = 1
"""How long answers that are being sent may take once the block has ended."""

STOP_SECONDS = 10.0
"""Longest wait for the thread, on a machine that does much else."""


@contextmanager
def threaded_server(app: ASGIApp, listener: socket.socket, *, name: str) -> Iterator[None]:
    """Serve on `listener` until the block ends. Clients may leave connections open and answers unread.

    Args:
        app: The application; its lifespan is not run.
        listener: A socket from `loopback_socket`; the caller closes it.
        name: Name of the thread.

    Raises:
        RuntimeError: The server did not stop, with the stack of its thread: the application holds up its event loop.
    """
    import uvicorn

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=IDLE_SECONDS,
    )
    server = uvicorn.Server(config)
    loop = asyncio.SelectorEventLoop()
    thread = threading.Thread(target=_serve, args=(server, listener, loop), name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        _stop(server, thread, loop)


def _serve(server: uvicorn.Server, listener: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(_until_stopped(server, listener))


async def _until_stopped(server: uvicorn.Server, listener: socket.socket) -> None:
    await server.serve([listener])
    for connection in list(server.server_state.connections):
        connection.transport.abort()  # its client does not read: what is left for it is never sent
    await asyncio.sleep(0)


def _stop(server: uvicorn.Server, thread: threading.Thread, loop: asyncio.AbstractEventLoop) -> None:
    for flag in ("should_exit", "force_exit"):
        setattr(server, flag, True)
        with suppress(RuntimeError):  # the loop is closed: the server has ended by itself
            loop.call_soon_threadsafe(lambda: None)  # wakes it, whatever it believes about the time
        thread.join(STOP_SECONDS / 2)
        if not thread.is_alive():
            return
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - the documented way to a thread's stack
    stack = "".join(traceback.format_stack(frame)) if frame else ""
    raise RuntimeError(
        f"The thread {thread.name} did not stop within {STOP_SECONDS:g} s. It is here:\n{stack}"
    )
