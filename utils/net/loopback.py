"""Whether an address is on this machine: no proxy may stand before it, and it means nothing elsewhere."""

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
