"""An agent in a process of its own, whose tool waits for ever: `python -m tests.e2e.agents.waiter --port 8000`."""

from __future__ import annotations

import asyncio

from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.tools.agent_tool import agent_tool


class Waiter(BaseLangGraphAgent):
    """Waits."""

    name = "waiter"
    description = "Waits."

    @agent_tool(examples=["Wait for the train"], read_only=True)
    async def wait(self) -> str:
        """Wait for the train."""
        await asyncio.Event().wait()
        return "It came."


if __name__ == "__main__":
    from tests.e2e.agents.waiter import Waiter as Served
    from utils.a2a_common.server.serve import serve

    raise SystemExit(serve(Served, default_port=8000))
