"""Whether a request of httpx failed before any of it was sent, so that it cannot have had an effect."""

from __future__ import annotations


def never_sent(error: Exception) -> bool:
    """Whether no connection was made, or the request could not be encoded."""
    import httpx

    return isinstance(
        error,
        httpx.ConnectError
        | httpx.ConnectTimeout
        | httpx.PoolTimeout
        | httpx.ProxyError
        | httpx.UnsupportedProtocol
        | httpx.LocalProtocolError,
    )
