"""Shortens texts with a summariser, or by extract if that fails, and caches the results. Pure but for the summariser."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping

from utils.context.protocols import Summariser, TokenCounter
from utils.context.summarisers.cut import cut_to
from utils.context.summarisers.extractive import extract
from utils.errors import ModelFailure
from utils.messages.handles import handle_of

PARALLEL = 4
"""Most summariser calls that run concurrently."""

_TOLERANCE = 1.25


class Shortener:
    """Shortens texts for one request. `failed` counts the calls that were replaced by an extract."""

    def __init__(
        self, summariser: Summariser, counter: TokenCounter, cache: MutableMapping[str, str]
    ) -> None:
        self.failed = 0
        self._summariser = summariser
        self._counter = counter
        self._cache = cache
        self._slots = asyncio.Semaphore(PARALLEL)

    async def shorten(self, text: str, *, title: str, guidance: str, max_tokens: int) -> str:
        """What matters in `text` for the question `guidance`, in `max_tokens` tokens or up to a quarter more."""
        key = handle_of(f"{guidance}\0{max_tokens}\0{text}")
        if key not in self._cache:
            self._cache[key] = await self._ask(text, title, guidance, max_tokens)
        return self._cache[key]

    async def _ask(self, text: str, title: str, guidance: str, max_tokens: int) -> str:
        limit = int(max_tokens * _TOLERANCE)
        if self._counter.text(text) > self._summariser.window:
            text = cut_to(text, self._summariser.window, self._counter)
        try:
            async with self._slots:
                short = await self._summariser.shorten(
                    text, title=title, guidance=guidance, max_tokens=max_tokens
                )
        except ModelFailure:
            self.failed += 1
            short = ""
        if not short.strip() or self._counter.text(short) > limit:
            short = extract(short.strip() or text, max_tokens, self._counter, guidance=guidance)
        return short
