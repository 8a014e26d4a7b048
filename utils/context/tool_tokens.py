"""Token counts of tool schemas, so that the same tools are not converted and counted for each request."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.utils.function_calling import convert_to_openai_tool

from utils.context.protocols import TokenCounter

_MOST = 512


class ToolTokens:
    """Tokens of tools by object identity, since the tools of an agent are made once.

    Args:
        counter: Counts.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._counts: dict[int, tuple[Any, int]] = {}
        self._ready = False

    async def of(self, tools: Sequence[Any]) -> int:
        """Tokens of the tools as sent.

        New tools are counted in a thread, and so is the first text of a process, for which the encoding
        is loaded: the event loop goes on.
        """
        if not self._ready:
            await asyncio.to_thread(self._counter.text, "ready")
            self._ready = True
        if all(self._known(tool) is not None for tool in tools):
            return self.of_known(tools)
        return await asyncio.to_thread(self.of_known, tools)

    def of_known(self, tools: Sequence[Any]) -> int:
        """The same at once, for tools that were counted before."""
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
