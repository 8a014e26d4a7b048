"""One run of an agent's graph, from the user's message or answer to its end; leaves no tool call open."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.messages import HumanMessage
from langgraph.constants import END
from langgraph.types import Command

from utils.a2a_common.graph.interrupts import resume_value
from utils.a2a_common.graph.stream_translator import MODEL_NODE, STREAM_MODES, StreamTranslator
from utils.a2a_common.graph.user_message import answer_text, user_text
from utils.a2a_common.protocol.extensions import SCOPE_EXTENSION
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import AgentEvent
from utils.resilience.ledger import close_open_calls

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool
    from langgraph.types import Interrupt


class BuiltGraph(NamedTuple):
    """A graph and what it was made from; exchanged as one.

    Attributes:
        graph: The compiled graph.
        system: The system prompt.
        tools: All tools.
        writer: The node in whose name the conversation's state is updated between turns.
        agents: The nodes of an own graph that are agents themselves; none for the usual graph.
    """

    graph: Any
    system: str
    tools: Sequence[BaseTool]
    writer: str = MODEL_NODE
    agents: frozenset[str] = frozenset()

    async def update(self, config: RunnableConfig, values: Mapping[str, Any]) -> None:
        """Change the state of a conversation between turns; nothing is left to run afterwards."""
        await self.graph.aupdate_state(config, values, as_node=self.writer)
        if self.agents:  # what follows the node in an own graph must not run now
            await self.graph.aupdate_state(config, None, as_node=END)


class GraphRun:
    """Runs one request on a graph. Made per request, so that nothing is shared between turns.

    Args:
        built: The graph; a rebuilt agent's running turns keep the one that they began with.
        agent: Name of the agent.
        request: What is asked.
        config: Names the conversation's thread.
    """

    def __init__(self, built: BuiltGraph, agent: str, request: AgentRequest, config: RunnableConfig) -> None:
        self._graph = built.graph
        self._agents = built.agents
        self._request = request
        self._config = config
        self._asked: Sequence[Interrupt] = ()
        self._turn = StreamTranslator(agent, request.used, agents=built.agents)

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
            self._entry(), self._config, stream_mode=STREAM_MODES, context=self._request, subgraphs=True
        )
        try:
            async with aclosing(run) as parts:
                async for namespace, mode, part in parts:
                    if self._is_shown(namespace):
                        for event in self._turn.translate(mode, part):
                            yield event
        finally:
            if self._turn.ledger.pending_tool_calls and not self._turn.waits:
                await close_open_calls(self._graph, self._config)
        if self._turn.waits:
            self._turn.ask((await self._graph.aget_state(self._config)).interrupts)

    def _is_shown(self, namespace: Sequence[str]) -> bool:
        """Whether a part comes from the graph itself or from an agent that is a node of it, not from deeper inside."""
        return not namespace or (len(namespace) == 1 and namespace[0].split(":")[0] in self._agents)

    def finish(self) -> Iterator[AgentEvent]:
        """The last events of the turn; the very last one ends it."""
        return self._turn.finish()

    def _entry(self) -> Any:
        """The answer to the first of the open questions, or a new message where there is none."""
        request = self._request
        if self._asked:
            data = [part for part in request.data if SCOPE_EXTENSION not in part]
            return Command(resume={self._asked[0].id: resume_value(answer_text(request), data)})
        return {"messages": [HumanMessage(user_text(request), id=request.message_id or None)]}
