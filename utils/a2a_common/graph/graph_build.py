"""Makes an agent's graph: LangChain's agent graph, alone or as a node of the agent's own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from utils.a2a_common.graph.model.untraced_calls import stay_in_place_unless_traced
from utils.a2a_common.graph.own.contained_nodes import contain_nodes
from utils.a2a_common.graph.own.parts import GraphParts, check_graph
from utils.a2a_common.graph.run.graph_run import BuiltGraph
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.tools.checks import check_tools
from utils.a2a_common.graph.tools.legible_tool import legible
from utils.a2a_common.protocol.request import AgentRequest
from utils.errors import SettingsError
from utils.llm.inputs import file_types
from utils.messages.characters import whole_characters
from utils.messages.repeatable import is_read_only
from utils.settings import ModelProvider

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.tools import BaseTool
    from langgraph.graph import StateGraph
    from langgraph.graph.state import CompiledStateGraph


class GraphAgent(Protocol):
    """The parts of which a graph is built."""

    runtime: AgentRuntime

    @property
    def name(self) -> str:
        """Name of the agent."""

    @property
    def state_schema(self) -> type[Any] | None:
        """Further state."""

    @property
    def answer_schema(self) -> type[Any] | None:
        """The schema that every answer fills."""

    def system_prompt(self) -> str:
        """The instruction before every conversation."""

    async def graph(self, parts: GraphParts) -> StateGraph[Any, Any, Any, Any] | None:
        """The agent's own graph."""


async def build_graph(
    agent: GraphAgent, tools: Sequence[BaseTool], middleware: Sequence[AgentMiddleware[Any, Any]]
) -> BuiltGraph:
    """The graph of an agent, compiled with its checkpointer.

    Raises:
        SettingsError: A tool cannot work, or the agent's own graph is compiled, keeps no conversation, has a key that cannot be
            joined with that of `parts.agent`, or has no node that is `parts.agent`.
    """
    from utils.a2a_common.graph.own.joined_state import join_agents
    from utils.a2a_common.graph.own.state_conflict import own_keys

    tools = [legible(tool) for tool in tools]
    check_tools(agent.name, [*tools, *offered_by(middleware)])
    stay_in_place_unless_traced()
    system, checkpointer = whole_characters(agent.system_prompt()), agent.runtime.checkpointer
    reasoning, takes = agent.runtime.settings.llm.show_reasoning, file_types(agent.runtime.model)
    form = agent.answer_schema.__name__ if agent.answer_schema is not None else ""
    dated = agent.runtime.settings.llm.provider is not ModelProvider.EMBEDDED
    options: dict[str, Any] = {
        "model": agent.runtime.model,
        "tools": tools,
        "system_prompt": system,
        "middleware": middleware,
        "response_format": agent.answer_schema,
        "state_schema": agent.state_schema,
        "context_schema": AgentRequest,
        "name": agent.name,
    }
    built = partial(
        BuiltGraph, system=system, tools=tools, reasoning=reasoning, takes=takes, dated=dated, form=form
    )
    reads = all(is_read_only(tool.metadata) for tool in [*tools, *offered_by(middleware)])
    made = _maker(options, own_keys(agent.state_schema))
    parts = GraphParts(made, agent.runtime.model, tools)
    own = await agent.graph(parts)
    if own is None:
        alone = made(checkpointer=checkpointer)
        contain_nodes(alone)
        return built(alone, only_reads=reads)
    check_graph(own, agent.name)
    join = join_agents(own, agent.name)
    graph = own.compile(checkpointer=checkpointer, name=agent.name)
    join(graph)
    contain_nodes(graph)
    agents = frozenset(name for name, node in graph.nodes.items() if node.subgraphs)
    if not agents:
        raise SettingsError("graph", f"The graph of the agent {agent.name} has no node that is parts.agent.")
    return built(graph, writer=min(agents), agents=agents)


def offered_by(middleware: Sequence[AgentMiddleware[Any, Any]]) -> list[BaseTool]:
    """The tools that middleware brings along."""
    return [tool for part in middleware for tool in getattr(part, "tools", ())]


def _maker(
    options: Mapping[str, Any], own: Collection[str]
) -> Callable[..., CompiledStateGraph[Any, Any, Any, Any]]:
    """Makes LangChain's agent graph; where the agent has state of its own, with an eye on calls that change it at once."""
    from langchain.agents import create_agent

    from utils.a2a_common.graph.own.state_conflict import StateChanges, keep_last

    def made(**more: Any) -> CompiledStateGraph[Any, Any, Any, Any]:
        if not own:
            return create_agent(**options, **more)
        changes = StateChanges()
        graph = create_agent(**{**options, "middleware": [changes, *options["middleware"]]}, **more)
        changes.keys = keep_last(graph, own)
        return graph

    return made
