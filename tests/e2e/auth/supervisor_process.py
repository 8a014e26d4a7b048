"""A supervisor in a process of its own, which a test kills: its settings are the environment, its home and port the arguments.

Its model asks the vault, and says what came of it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from langchain_core.messages import BaseMessage

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.test_delegation import until_ready
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls


def answer(messages: Sequence[BaseMessage]) -> ScriptedReply:
    """Delegates, then says what came of it."""
    if messages[-1].type == "tool":
        return ScriptedReply(text=f"Told: {messages[-1].text}")
    return calls(call("vault", request="What is a?"))


async def main(home: Path) -> None:
    """Serve it, and print its address."""
    running = running_agent(
        PlatformEngineer, model=ScriptedModel(script=answer), home=home, environ=dict(os.environ)
    )
    async with running as url:
        await until_ready(url)
        print(url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
