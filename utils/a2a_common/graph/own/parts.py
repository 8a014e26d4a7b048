"""The parts for an agent's own LangGraph graph, so that everything around the graph still works."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from utils.errors import SettingsError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool
    from langgraph.graph import StateGraph
    from langgraph.graph.state import CompiledStateGraph

_NO_CONVERSATION = (
    "The state of the graph of the agent {agent} has {wrong}: let it extend ContextState of utils/context/state.py, "
    "which keeps the conversation (docs/agent-reference.md#a-graph-of-your-own)."
)


def check_graph(graph: StateGraph[Any, Any, Any, Any], agent: str) -> None:
    """Refuse a graph that would fail at its first request, or forget all but the last message.

    Raises:
        SettingsError: It is compiled already, or its state has no key `messages`, or one that each node overwrites.
    """
    from langgraph.channels import LastValue
    from langgraph.graph import StateGraph

    if not isinstance(graph, StateGraph):
        raise SettingsError(
            "graph", f"graph() of the agent {agent} must return a StateGraph that is not compiled."
        )
    kept = graph.channels.get("messages")
    if kept is None or type(kept) is LastValue:
        wrong = "no key `messages`" if kept is None else "a key `messages` without a reducer"
        raise SettingsError("graph", _NO_CONVERSATION.format(agent=agent, wrong=wrong))


@dataclass(frozen=True)
class GraphParts:
    """The parts of an agent's graph.

    A model call that is made through `agent` fits the window, is repaired, retried, counted and limited. A call of
    `model` in a node is none of that: use it for short questions only.

    Attributes:
        make_agent: Makes `agent`.
        model: The chat model.
        tools: The agent's tools.
    """

    make_agent: Callable[[], CompiledStateGraph[Any, Any, Any, Any]]
    model: BaseChatModel
    tools: Sequence[BaseTool]

    @cached_property
    def agent(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The graph that the agent would have had: model, tools and everything around them. Use it as a node.

        The state of the graph must extend `utils.context.state.ContextState`, so that the conversation is kept.
        """
        return self.make_agent()
