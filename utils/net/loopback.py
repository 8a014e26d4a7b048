"""Whether an address is on this machine, which means nothing elsewhere, or in the own network: no proxy may stand before either."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_loopback(url: str | None) -> bool:
    """Whether the host of a URL is this machine, by its name or its number."""
    host = (urlsplit(url).hostname or "") if url else ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_without_domain(url: str) -> bool:
    """Whether the host of a URL is a name alone, such as `rag`, and no number.

    Compose and Kubernetes give services such names. They mean something in the own network only: a company's proxy, which
    stands outside, would not find them.
    """
    host = urlsplit(url).hostname or ""
    return bool(host) and not {".", ":"} & set(host)
