"""One turn of a supervisor in a process of its own; orders and output are those of `tests.e2e.resume.child`.

`end_task` in place of a turn ends the task without it, as where it may not be resumed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.resume.child import QUIET, SPENT, for_ever, hold, shown
from utils.a2a_common import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import Completed
from utils.persistence.checkpoints import open_checkpointer
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls


def answer(messages: Sequence[BaseMessage]) -> ScriptedReply:
    """Delegates, then says what came of it."""
    if messages[-1].type == "tool":
        return ScriptedReply(text=f"Told: {messages[-1].text}", usage=SPENT)
    return calls(call("keys", request="What is a?"), usage=SPENT)


async def main(order: dict[str, Any]) -> None:
    """Run the turn, or end the task."""
    home, stop = Path(order["home"]), order.get("stop", "")
    async with open_checkpointer(home / "checkpoints.sqlite") as saver:
        hold(saver, stop)
        settings = AgentSettings.load(
            {**QUIET, "SUB_AGENTS": f"keys={order['url']}", "SUB_AGENT_REFRESH_SECONDS": "0.1"}
        )
        runtime = AgentRuntime(
            home=home, settings=settings, model=ScriptedModel(script=answer), checkpointer=saver
        )
        agent = PlatformEngineer(runtime)
        await agent.start()
        await agent.build()
        if order.get("end_task"):
            await agent.cancel_children("task")
            print(json.dumps({"event": "ended"}), flush=True)
            await asyncio.to_thread(sys.stdin.read)  # until it is told to stop
        else:
            request = AgentRequest(
                order["text"], "task", "context", "message", "thread", recovered=order.get("recovered", False)
            )
            async for event in agent.stream(request):
                if isinstance(event, Completed):
                    await agent.cancel_children("task")  # as the executor does before the end is told
                    if stop == "end":
                        await for_ever("end")
                print(shown(event), flush=True)
        await agent.close()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
