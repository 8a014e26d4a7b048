"""Runs the double on a free loopback port, in a thread of its own, for as long as a `with` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from utils.testing.live_server import loopback_socket
from utils.testing.strict.brains import Brain
from utils.testing.strict.provider import StrictProvider
from utils.testing.threaded_server import threaded_server


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
        RuntimeError: The brain holds up the double's event loop, which does not stop.
    """
    provider = StrictProvider(brain, window=window)
    with loopback_socket(port) as listener:
        provider.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with threaded_server(provider, listener, name="strict-provider"):
            yield provider
    if provider.errors:
        raise provider.errors[0]
