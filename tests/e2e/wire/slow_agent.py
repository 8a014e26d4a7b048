"""An agent that says a word and waits until a file exists, for tests of processes that are ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from tests.e2e.agents.peers import Keys
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import AgentEvent, Completed, TextDelta


class Slow(Keys):
    """Says "Begun. ", and "Done." when its home holds the file `go`."""

    name = "slow"

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        yield TextDelta("Begun. ")
        while not (self.runtime.home / "go").exists():
            await asyncio.sleep(0.05)
        yield TextDelta("Done.")
        yield Completed()
