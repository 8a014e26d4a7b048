"""What an agent builds a LangGraph graph of its own from, so that everything around the graph is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool
    from langgraph.graph.state import CompiledStateGraph


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
