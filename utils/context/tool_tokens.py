"""Caches token counts of tool schemas, which are the same in every request of an agent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.utils.function_calling import convert_to_openai_tool

from utils.context.protocols import TokenCounter

_MOST = 512


class ToolTokens:
    """Token counts by tool object.

    Args:
        counter: Counts the schemas.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._counts: dict[int, tuple[Any, int]] = {}
        self._ready = False

    async def of(self, tools: Sequence[Any]) -> int:
        """Tokens of the tools as sent.

        New tools are counted in a worker thread. So is the first text, because that loads the encoding.
        """
        if not self._ready:
            await asyncio.to_thread(self._counter.text, "ready")
            self._ready = True
        if all(self._known(tool) is not None for tool in tools):
            return self.of_known(tools)
        return await asyncio.to_thread(self.of_known, tools)

    def of_known(self, tools: Sequence[Any]) -> int:
        """The same without a thread, for tools that `of` has counted."""
        return sum(map(self._cost, tools))

    def _known(self, tool: Any) -> int | None:
        known = self._counts.get(id(tool))
        return known[1] if known and known[0] is tool else None

    def _cost(self, tool: Any) -> int:
        known = self._known(tool)
        if known is None:
            if len(self._counts) >= _MOST:
                self._counts.clear()
            known = self._counter.tools([convert_to_openai_tool(tool)])
            self._counts[id(tool)] = (tool, known)
        return known
