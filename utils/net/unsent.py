"""Whether a request of httpx failed before any of it was sent, so that nobody can have carried it out."""

from __future__ import annotations


def never_sent(error: Exception) -> bool:
    """Whether no connection came about, or the request could not be written down."""
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
