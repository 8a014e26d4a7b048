"""One turn on an agent's graph, from the user's words or answer to the end, with no tool call left open."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.messages import HumanMessage
from langgraph.types import Command

from utils.a2a_common.graph.interrupts import resume_value
from utils.a2a_common.graph.stream_translator import STREAM_MODES, StreamTranslator
from utils.a2a_common.protocol.extensions import SCOPE_EXTENSION
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import AgentEvent
from utils.resilience.ledger import close_open_calls

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool
    from langgraph.types import Interrupt


class BuiltGraph(NamedTuple):
    """A graph and what it was made from; exchanged as one."""

    graph: Any
    system: str
    tools: Sequence[BaseTool]


class GraphRun:
    """Runs one request on a graph. Made per request, so that nothing is shared between turns.

    Args:
        graph: The compiled graph; a rebuilt agent's running turns keep the one that they began with.
        agent: Name of the agent.
        request: What is asked.
        config: Names the conversation's thread.
    """

    def __init__(self, graph: Any, agent: str, request: AgentRequest, config: RunnableConfig) -> None:
        self._graph = graph
        self._request = request
        self._config = config
        self._asked: Sequence[Interrupt] = ()
        self._turn = StreamTranslator(agent, request.used)

    async def open(self) -> None:
        """Find the questions that the request answers; where there are none, close what a killed turn left open."""
        if self._request.resumes:
            self._asked = (await self._graph.aget_state(self._config)).interrupts
        if not self._asked:
            await close_open_calls(self._graph, self._config)

    @property
    def is_answer(self) -> bool:
        """Whether the request is the answer to a question, known once the turn is open."""
        return bool(self._asked)

    @property
    def waits(self) -> bool:
        """Whether the turn ended with a question to the user."""
        return self._turn.waits

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        """The graph's run as events, without the last ones; no tool call is left open, unless it waits for the user."""
        run = self._graph.astream(
            self._entry(), self._config, stream_mode=STREAM_MODES, context=self._request
        )
        try:
            async with aclosing(run) as parts:
                async for mode, part in parts:
                    for event in self._turn.translate(mode, part):
                        yield event
        finally:
            if self._turn.ledger.pending_tool_calls and not self._turn.waits:
                await close_open_calls(self._graph, self._config)
        if self._turn.waits:
            self._turn.ask((await self._graph.aget_state(self._config)).interrupts)

    def finish(self) -> Iterator[AgentEvent]:
        """The last events of the turn; the very last one ends it."""
        return self._turn.finish()

    def _entry(self) -> Any:
        """The answer to the first of the open questions, or a new message where there is none."""
        request = self._request
        if self._asked:
            data = [part for part in request.data if SCOPE_EXTENSION not in part]
            return Command(resume={self._asked[0].id: resume_value(request.text, data)})
        return {"messages": [HumanMessage(request.text, id=request.message_id or None)]}
