"""Lets HTTP clients share what they verify servers by: each would read all certificates of the machine, 20 ms of work."""

from __future__ import annotations

import os
import ssl
from functools import cache
from typing import Any

import httpx._transports.default as transports

_make: Any = transports.create_ssl_context  # type: ignore[attr-defined]
READ = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")


@cache
def _made(
    verify: bool | str, cert: Any, trust_env: bool, _environment: tuple[str | None, ...]
) -> ssl.SSLContext:
    made: ssl.SSLContext = _make(verify, cert, trust_env)
    return made


def share_contexts() -> None:
    """Make one context for the same arguments and variables, in this process."""

    def shared(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
        if not isinstance(verify, bool | str):
            given: ssl.SSLContext = _make(verify, cert, trust_env)
            return given
        return _made(verify, cert, trust_env, tuple(os.environ.get(name) for name in READ))

    transports.create_ssl_context = shared  # type: ignore[attr-defined]
