"""`BaseLangGraphAgent`: the class that every agent subclasses. Hooks only; the work is elsewhere.

The smallest agent names itself, gives a prompt and lists its tools:

    class Clock(BaseLangGraphAgent):
        name = "clock"
        description = "Tells the time."

        def system_prompt(self) -> str:
            return "Tell the time with the tool."

        async def tools(self) -> Sequence[BaseTool]:
            return [what_time]
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

from utils.a2a_common.delegation_scope import find_scope
from utils.a2a_common.readiness import Readiness
from utils.a2a_common.request import AgentRequest
from utils.a2a_common.runtime import AgentRuntime
from utils.a2a_common.skill import Skill
from utils.events import AgentEvent, Completed, TextDelta

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool

_SUPERSTEPS = 200
"""LangGraph's backstop against a loop without end, in supersteps."""


class BaseLangGraphAgent(ABC):
    """An agent on a LangGraph graph: a model, a prompt and tools, served over A2A.

    Class attributes:
        name: Short name; lower case, digits and hyphens. Also the name on the wire.
        description: What it does, in a sentence. A supervisor routes by it.
        skills: What its card offers, with examples in users' words.
        version: Version on the card.
        shown_examples: Most example requests of one tool that a model is shown.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    skills: ClassVar[tuple[Skill, ...]] = ()
    version: ClassVar[str] = "0.1.0"
    shown_examples: ClassVar[int] = 3

    def __init__(self, runtime: AgentRuntime) -> None:
        self.runtime = runtime
        self._graph: Any = None
        self._threads: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @abstractmethod
    def system_prompt(self) -> str:
        """The instruction that stands before every conversation."""

    @abstractmethod
    async def tools(self) -> Sequence[BaseTool]:
        """The tools that the model may call. Called by `build`, after `start`."""

    async def start(self) -> None:
        """Open what the agent needs. Called once, before the first request."""

    async def stop(self) -> None:
        """Close what `start` opened."""

    async def readiness(self) -> Readiness:
        """Whether the agent can take work now."""
        return Readiness(ready=True)

    def middleware(self) -> Sequence[AgentMiddleware[Any, Any]]:
        """Further LangChain middleware, run inside the agent's own."""
        return ()

    async def build(self) -> None:
        """Make the graph from prompt, tools and middleware; a running turn keeps the one it began with."""
        from langchain.agents import create_agent

        from utils.a2a_common.tool_boundary import ToolBoundary
        from utils.messages.tool_examples import described

        self._graph = create_agent(
            self.runtime.model,
            [described(tool, self.shown_examples) for tool in await self.tools()],
            system_prompt=self.system_prompt(),
            middleware=[ToolBoundary(), *self.middleware()],
            context_schema=AgentRequest,
            checkpointer=self.runtime.checkpointer,
            name=self.name,
        )

    async def stream(self, request: AgentRequest) -> AsyncIterator[AgentEvent]:
        """Work on one request and say so as it happens.

        Turns of one conversation run one after the other. The last event is `Completed`, `Failed`
        or `InputRequired`; an error that ends the turn is raised.
        """
        lock = self._threads.setdefault(request.thread_id, asyncio.Lock())
        async with lock:
            async for event in self._run(request):
                yield event

    async def _run(self, request: AgentRequest) -> AsyncIterator[AgentEvent]:
        from utils.a2a_common.turn import STREAM_MODES, Turn

        if self._graph is None:
            await self.build()
        graph, turn = self._graph, Turn(self.name)
        config: RunnableConfig = {
            "configurable": {"thread_id": request.thread_id, "task_id": request.task_id},
            "recursion_limit": _SUPERSTEPS,
        }
        notice = await self._notice(graph, config, request)
        async for mode, part in graph.astream(
            _graph_input(request), config, stream_mode=STREAM_MODES, context=request
        ):
            for event in turn.translate(mode, part):
                yield event
        for event in turn.finish():
            if isinstance(event, Completed) and notice:
                yield TextDelta(f"\n\n> {notice}")
            yield event

    async def _notice(self, graph: Any, config: RunnableConfig, request: AgentRequest) -> str:
        """What a person reads once, with the first answer; another agent does not need it."""
        if not self.runtime.notice or find_scope(request.data):
            return ""
        state = await graph.aget_state(config)
        return "" if state.values.get("messages") else self.runtime.notice


def _graph_input(request: AgentRequest) -> Any:
    from langchain_core.messages import HumanMessage
    from langgraph.types import Command

    if request.resumes:
        return Command(resume=request.text)
    return {"messages": [HumanMessage(request.text, id=request.message_id or None)]}
