"""Runs the double on a free loopback port, in a thread of its own, for as long as a `with` block."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from utils.testing.strict.brains import Brain
from utils.testing.strict.provider import StrictProvider

_STOP_SECONDS = 10.0
"""Longest wait for the double to stop: a brain that never returns must not hold up the end of a test session."""


@contextmanager
def run_strict_provider(
    brain: Brain | None = None, *, window: int = 128_000, port: int = 0
) -> Iterator[StrictProvider]:
    """Serve a double over HTTP; works in plain and in asynchronous tests.

    Args:
        brain: What answers; an echo when omitted. It runs in the double's own event loop.
        window: Context window in tokens.
        port: Port on 127.0.0.1; a free one when 0.

    Raises:
        Exception: What the brain raised first, at the end of the block.
    """
    import uvicorn

    provider = StrictProvider(brain, window=window)
    with socket.create_server(("127.0.0.1", port)) as listener:
        provider.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        config = uvicorn.Config(
            provider,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],), name="strict-provider", daemon=True)
        thread.start()
        try:
            yield provider
        finally:
            server.should_exit = True
            thread.join(_STOP_SECONDS)
    if provider.errors:
        raise provider.errors[0]
