"""Builds URLs from their parts."""

from __future__ import annotations


def http_url(host: str, port: int | None = None, scheme: str = "http") -> str:
    """The URL of a host name or IP address; an IPv6 address is put in brackets. Pure."""
    bracketed = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"{scheme}://{bracketed}" + ("" if port is None else f":{port}")
