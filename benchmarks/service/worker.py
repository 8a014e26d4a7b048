"""The sub-agent: one tool with an effect that can be counted, one that only reads, one that asks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from langchain_core.tools import BaseTool, tool
from langgraph.types import interrupt

from benchmarks.service.gate import GateClient
from utils.a2a_common import BaseLangGraphAgent

EFFECTS = "BENCHMARK_EFFECTS"
"""Variable with the file that the effects are appended to, a key in each line."""

TOOL_BEGINS, IN_TOOL = "tool begins", "in tool"
_gate = GateClient()


@tool
async def work(key: str) -> str:
    """Does the work, which must be done once."""
    await _gate.at(key, TOOL_BEGINS)
    if path := os.environ.get(EFFECTS):
        with Path(path).open("a") as file:  # noqa: ASYNC230 - one line
            file.write(f"{key}\n")
    await _gate.at(key, IN_TOOL)
    return f"did {key}"


@tool
async def look(key: str) -> str:
    """Looks something up, which may be done as often as one likes."""
    await _gate.at(key, TOOL_BEGINS)
    await _gate.at(key, IN_TOOL)
    return f"did {key}"


look.metadata = {"read_only": True}


@tool
async def ask(key: str) -> str:
    """Asks the user."""
    return f"did {key} with {interrupt('Which one?')}"


# it does nothing but ask: after a kill before the question is stored it asks again
ask.metadata = {"read_only": True}


class Worker(BaseLangGraphAgent):
    """Calls the tool that it is told to."""

    name = "worker"
    description = "Works."

    def system_prompt(self) -> str:
        return "Use the tool."

    async def tools(self) -> Sequence[BaseTool]:
        return [work, look, ask]
