"""A sub-agent with one tool, which another checkout runs as well: it imports nothing but what every version has."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.tools import BaseTool, tool

from utils.a2a_common import BaseLangGraphAgent


@tool
async def work(key: str) -> str:
    """Does the work, which must be done once."""
    return f"did {key}"


class Worker(BaseLangGraphAgent):
    """Calls the tool that it is told to."""

    name = "worker"
    description = "Works."

    def system_prompt(self) -> str:
        return "Use the tool."

    async def tools(self) -> Sequence[BaseTool]:
        return [work]
