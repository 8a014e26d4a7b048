"""Lets HTTP clients share what they verify servers by: each would read all certificates of the machine, 20 ms of work."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from functools import cache
from typing import Any

import httpx._transports.default as transports
import httpx2._transports.default as transports_of_openai

READ = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")


def share_contexts() -> None:
    """Make one context for the same arguments and variables, in this process."""
    for module in (transports, transports_of_openai):
        module.create_ssl_context = _sharing(module.create_ssl_context)  # type: ignore[attr-defined]


def _sharing(make: Callable[..., ssl.SSLContext]) -> Callable[..., ssl.SSLContext]:
    @cache
    def made(
        verify: bool | str, cert: Any, trust_env: bool, _environment: tuple[str | None, ...]
    ) -> ssl.SSLContext:
        return make(verify, cert, trust_env)

    def shared(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
        if not isinstance(verify, bool | str):
            return make(verify, cert, trust_env)
        return made(verify, cert, trust_env, tuple(os.environ.get(name) for name in READ))

    return shared
