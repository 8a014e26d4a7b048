"""Schedules of an agent of the house: its graph, checkpoints, tool boundary and tool record, in processes that die.

One process at a time works on a folder of the house, so that none stalls here while another takes its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from a2a.server.agent_execution import AgentExecutor
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

from benchmarks.simulate.facts import ToolRun
from benchmarks.simulate.faulty_store import Link, faulty
from benchmarks.simulate.house_script import HouseScript, ToolStep, deal
from benchmarks.simulate.process import Process
from benchmarks.simulate.service_world import ServiceWorld
from benchmarks.simulate.setting import Setting
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.messages.repeatable import READ_ONLY
from utils.persistence.tool_record import MemoryToolRecord, ToolRecord
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call

SETTINGS = AgentSettings.load({})


class HouseWorld(ServiceWorld):
    """Users of one agent of the house."""

    def __init__(self, setting: Setting) -> None:
        setting.stalls = False
        super().__init__(setting)
        self.checkpoints = InMemorySaver()
        self.record = MemoryToolRecord()

    def executor(self, process: Process, link: Link) -> AgentExecutor:
        """The executor of one process: its own agent, over stores that all share."""
        pace = self.lots.choice((0.0, 0.01, 0.3))
        model = _Model(script=_answer, pace=pace)
        checkpointer: Any = faulty(self.checkpoints, link)
        runtime = AgentRuntime(home=Path(), settings=SETTINGS, model=model, checkpointer=checkpointer)
        return _Agent(runtime, self, process.name, faulty(self.record, link)).executor()

    def deal(self, endings: tuple[str, ...]) -> HouseScript:
        """What a message asks for."""
        del endings
        return deal(self.lots)

    async def act(self, process: str, task: str, call_id: str, step: ToolStep) -> str:
        """One run of a tool."""
        stored = self.record._calls.get(task, {}).items()  # noqa: SLF001 - what is stored
        known = any(key.call_id == call_id and each.outcome is not None for key, each in stored)
        self.setting.facts.tool_runs.append(ToolRun(task, call_id, process, step.read_only, known))
        self.setting.trace.note(process, f"runs the tool of {call_id} of {task}")
        await asyncio.sleep(step.seconds)
        if step.fails:
            raise RuntimeError("the tool is broken")
        self.setting.trace.note(process, f"the tool of {call_id} has returned")
        return "done"


class _Agent(BaseLangGraphAgent):
    """The agent of one process."""

    name = "house"
    description = "Does what a script says."

    def __init__(self, runtime: AgentRuntime, world: HouseWorld, process: str, record: ToolRecord) -> None:
        super().__init__(runtime)
        self._world = world
        self._process = process
        self._shared_record = record

    def system_prompt(self) -> str:
        """Nothing."""
        return "Do what the script says."

    async def tools(self) -> Sequence[BaseTool]:
        """One tool that changes something, and one that does not."""

        async def change(seconds: float, fails: bool, runtime: ToolRuntime[Any, Any]) -> str:
            """Change something."""
            return await self._act(runtime, ToolStep(seconds, read_only=False, fails=fails))

        async def look(seconds: float, fails: bool, runtime: ToolRuntime[Any, Any]) -> str:
            """Look at something."""
            return await self._act(runtime, ToolStep(seconds, read_only=True, fails=fails))

        return [
            StructuredTool.from_function(coroutine=change, name="change"),
            StructuredTool.from_function(coroutine=look, name="look", metadata={READ_ONLY: True}),
        ]

    async def _act(self, runtime: ToolRuntime[Any, Any], step: ToolStep) -> str:
        call_id = runtime.tool_call_id or ""
        return await self._world.act(self._process, runtime.context.task_id, call_id, step)

    @cached_property
    def _tool_record(self) -> ToolRecord:
        return self._shared_record


class _Model(ScriptedModel):
    """Answers by the script of the last message, after `pace` seconds and with as many between two pieces."""

    pace: float

    async def _astream(self, *args: Any, **named: Any) -> AsyncIterator[ChatGenerationChunk]:
        await asyncio.sleep(self.pace)
        async for chunk in super()._astream(*args, **named):
            yield chunk
            await asyncio.sleep(self.pace)


def _answer(messages: Sequence[BaseMessage]) -> ScriptedReply:
    place = max((n for n, each in enumerate(messages) if isinstance(each, HumanMessage)), default=None)
    script = None if place is None else HouseScript.decode(str(messages[place].text))
    if place is None or script is None:
        return ScriptedReply(text="nothing")
    request = messages[place]
    turn = sum(isinstance(each, AIMessage) for each in messages[place:])
    if turn >= len(script.rounds):
        return ScriptedReply(chunks=script.pieces)
    calls = []
    for number, step in enumerate(script.rounds[turn]):
        call_id = f"{request.id}#{turn}.{number}"
        name = "look" if step.read_only else "change"
        calls.append(call(name, call_id, seconds=step.seconds, fails=step.fails))
    return ScriptedReply(tool_calls=calls)
