"""Graphs that authors write around their agent."""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph

from utils.a2a_common.graph.own.parts import GraphParts
from utils.a2a_common.protocol.request import AgentRequest


def of_the_agent_alone(parts: GraphParts, state: type[Any]) -> StateGraph[Any, Any, Any, Any]:
    """A graph over a state whose one node is the agent."""
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(state, context_schema=AgentRequest)
    graph.add_node("agent", parts.agent)
    graph.add_edge(START, "agent")
    graph.add_edge("agent", END)
    return graph
