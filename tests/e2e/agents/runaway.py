"""An agent that begins work which nobody waits for, and whose work ends the program: `python -m tests.e2e.agents.runaway`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator

from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.server.serve import serve
from utils.events import AgentEvent, Completed, TextDelta


class Runaway(BaseLangGraphAgent):
    """Begins a task in the background, and answers."""

    name = "runaway"
    description = "Leaves in the background."

    async def build(self) -> None:
        """Nothing is needed."""

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        """Answer, and leave meanwhile if asked to."""
        if request.text == "Leave.":
            self._left = asyncio.create_task(_leave())
            await asyncio.wait([self._left])
        yield TextDelta("Here I am.")
        yield Completed()


async def _leave() -> None:
    sys.exit(3)


if __name__ == "__main__":
    raise SystemExit(serve(Runaway))
