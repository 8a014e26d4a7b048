"""The sub-agent of the chaos run: its tool goes wrong on demand. Runs as a process that is killed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from langchain_core.tools import BaseTool, tool
from langgraph.types import interrupt

from utils.a2a_common import BaseLangGraphAgent
from utils.errors import UpstreamUnavailable


@tool
async def work(kind: str) -> str:
    """Works, fails, hangs or asks, as told."""
    if kind == "tool_error":
        raise ZeroDivisionError
    if kind == "down":
        raise UpstreamUnavailable("The service cannot be reached right now.")
    if kind == "tool_hang":
        await asyncio.Event().wait()
    if kind == "question":
        return f"The user said {interrupt('Which one?')}"
    if kind == "slow":
        await asyncio.sleep(0.3)
    return "done"


class Worker(BaseLangGraphAgent):
    """Does what it is told, and goes wrong when told so."""

    name = "worker"
    description = "Works."

    def system_prompt(self) -> str:
        return "Use the tool."

    async def tools(self) -> Sequence[BaseTool]:
        return [work]
