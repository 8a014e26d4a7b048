"""The public keys of an OpenID provider: fetched, cached, and fetched again when a token names an unknown one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import structlog

from utils.auth.discovery import FETCH_SECONDS, Fetch, Unavailable, configuration_of, may_be_read
from utils.auth.refusal import AuthRefused, RefusalReason

log = structlog.get_logger(__name__)

FRESH_SECONDS = 600.0
"""How long keys are used without a new fetch."""

STALE_SECONDS = 3_600.0
"""How long they are used while the provider cannot be reached."""

RETRY_SECONDS = 60.0
"""Shortest time between two fetches for an unknown key, so that callers cannot cause many."""

DOWN_SECONDS = 5.0
"""Time between two fetches while the provider cannot be reached."""

_MOST_KEYS = 100

Jwk = Mapping[str, Any]


class Jwks:
    """The keys of one issuer.

    Args:
        issuer: Its address, as tokens name it.
        fetch: Reads JSON at an address.
        clock: Monotonic seconds.
    """

    def __init__(self, issuer: str, *, fetch: Fetch, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._fetch = fetch
        self._clock = clock
        self._keys: Sequence[Jwk] = ()
        self._read_at = -STALE_SECONDS
        self._tried_at = -RETRY_SECONDS
        self._failed = False
        self._lock = asyncio.Lock()

    async def keys(self, key_id: str) -> Sequence[Jwk]:
        """The keys, fetched again if they are old, or if none has this ID.

        Raises:
            AuthRefused: The provider cannot be reached, and the cached keys are too old, or none has this ID.
        """
        if self._wants(key_id):
            async with self._lock:
                if self._wants(key_id):
                    await self._read()
        rotated = self._failed and bool(key_id) and all(key.get("kid") != key_id for key in self._keys)
        if rotated or self._clock() - self._read_at > STALE_SECONDS:
            raise AuthRefused(RefusalReason.KEYS_UNAVAILABLE)
        return self._keys

    def _wants(self, key_id: str) -> bool:
        now = self._clock()
        if self._failed:
            return now - self._tried_at >= DOWN_SECONDS
        old = now - self._read_at > FRESH_SECONDS
        unknown = bool(key_id) and all(key.get("kid") != key_id for key in self._keys)
        return old or (unknown and now - self._tried_at >= RETRY_SECONDS)

    async def _read(self) -> None:
        first = not self._keys
        self._tried_at = self._clock()
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                found = await self._found()
        except (Unavailable, TimeoutError):
            self._failed = True
            log.warning("auth.keys_unavailable", issuer=self._issuer)
            return
        self._failed, self._keys, self._read_at = False, found, self._clock()
        if first:
            self._tried_at = -RETRY_SECONDS  # the first fetch does not count as one for an unknown key

    async def _found(self) -> Sequence[Jwk]:
        address = (await configuration_of(self._issuer, self._fetch)).get("jwks_uri")
        if not isinstance(address, str) or not may_be_read(address, self._issuer):
            raise Unavailable
        document = await self._fetch(address)
        keys = document.get("keys") if isinstance(document, Mapping) else None
        if not isinstance(keys, list) or len(keys) > _MOST_KEYS:
            raise Unavailable
        return [key for key in keys if isinstance(key, Mapping)]
