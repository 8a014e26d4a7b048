"""Whether a URL is on this machine or in the local network: neither may be reached through a proxy, which would not find it."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_loopback(url: str | None) -> bool:
    """Whether the host of a URL is this machine, by name or IP address."""
    host = (urlsplit(url).hostname or "") if url else ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_without_domain(url: str) -> bool:
    """Whether the host of a URL is a single label, such as `rag`, and not an IP address.

    Compose and Kubernetes give services such names. They resolve in their own network only: a company's proxy outside of it
    would not find them.
    """
    host = urlsplit(url).hostname or ""
    return bool(host) and not {".", ":"} & set(host)
