"""Joins the state of an agent's own graph with that of `parts.agent` in it, so that each change of a key with a reducer counts once.

A node that is a graph returns its complete state, and the reducer of the outer graph would join that with its own state: a list
would double with each turn. So the value itself goes in and comes out, past the reducers (`Overwrite`). Both graphs
see each change, whatever the reducer does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, get_type_hints

import structlog
from langchain_core.runnables import RunnableLambda, RunnableSequence
from langgraph.channels import AnyValue, BinaryOperatorAggregate, EphemeralValue, LastValue, UntrackedValue
from langgraph.channels.base import BaseChannel
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Overwrite

from utils.context.state import ContextState
from utils.errors import SettingsError
from utils.library_internals import replace_channel

log = structlog.get_logger(__name__)

_KEEPS_LAST = (LastValue, AnyValue, EphemeralValue, UntrackedValue)
"""Kinds of keys whose value is replaced, so that there is nothing to join."""

_NOT_JOINED = (
    "The graph of the agent {agent} and parts.agent both have the key `{key}`, a {kind}, and each would add to it what the other has: "
    "give it a reducer, as in Annotated[list[str], operator.add], or take it out of `state_schema` or out of the state of the graph "
    "(docs/agent-reference.md#a-graph-of-your-own)."
)


class JoinedChannel(BinaryOperatorAggregate[Any]):
    """A key with a reducer that first takes the value of the inner graph, and then joins it with changes of other nodes in the same step."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        """Apply the changes of one step. Of two complete values the last one counts: an error here would occur again at each read of the state."""
        wholes = [value.value for value in values if isinstance(value, Overwrite)]
        if len(wholes) > 1:
            log.error("state.two_values", key=self.key)
        for value in wholes:
            self.value = value
        added = [value for value in values if not isinstance(value, Overwrite)]
        return super().update(added) or bool(wholes)


def join_agents(graph: StateGraph[Any, Any, Any, Any], agent: str) -> Callable[[Any], None]:
    """Have each node that is `parts.agent` take and give back keys with a reducer as they are.

    Args:
        graph: The agent's own graph, not compiled. Its nodes are changed.
        agent: Name of the agent.

    Returns:
        A function to be called with the compiled graph.

    Raises:
        SettingsError: A key of both graphs can be neither replaced nor joined.
    """
    joined: set[str] = set()
    for spec in graph.nodes.values():
        inner = spec.runnable
        if not (isinstance(inner, CompiledStateGraph) and inner.name == agent):
            continue
        own = {key: channel for key, channel in inner.channels.items() if _is_own(key, inner)}
        shared = {key: graph.channels[key] for key in own if key in graph.channels}
        for key, channel in shared.items():
            _check(agent, key, channel)
        given, kept = _reduced(own), _reduced(shared)
        joined |= kept
        _replace_channels(inner, given)
        if given | kept:
            spec.runnable = RunnableSequence(_whole(given), inner, _whole(kept))
    return lambda compiled: _replace_channels(compiled, joined)


def _is_own(key: str, graph: Any) -> bool:
    """Whether only this agent declares the key: it is neither shared by all agents nor one of LangGraph's own."""
    return key in graph.stream_channels_asis and key not in get_type_hints(ContextState)


def _reduced(channels: Mapping[str, Any]) -> frozenset[str]:
    """The keys with a reducer."""
    return frozenset(key for key, channel in channels.items() if isinstance(channel, BinaryOperatorAggregate))


def _check(agent: str, key: str, channel: BaseChannel[Any, Any, Any]) -> None:
    if not isinstance(channel, (BinaryOperatorAggregate, *_KEEPS_LAST)):
        raise SettingsError("graph", _NOT_JOINED.format(agent=agent, key=key, kind=type(channel).__name__))


def _whole(keys: Collection[str]) -> RunnableLambda[Any, Any]:
    """Passes a state on, with the values of these keys as ones that no reducer touches."""

    async def passed(state: Any) -> Any:
        if not isinstance(state, Mapping):
            return state
        return {key: Overwrite(value) if key in keys else value for key, value in state.items()}

    return RunnableLambda(passed)


def _replace_channels(graph: Any, keys: Collection[str]) -> None:
    for key in keys:
        replace_channel(graph, key, JoinedChannel)
