"""Nodes that cannot end the process: whatever the code of one raises, and of the middleware and conditions around it, fails its turn."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator
from copy import copy
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable

from utils.a2a_common.tasks.third_party_code import third_party_code
from utils.library_internals import forget_runner, function_of, set_function

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

_MARK = "is_contained"


def contain_nodes(graph: Any) -> None:
    """Let each node of a compiled graph, and of the graphs that are nodes of it, raise an `Exception` whatever its code raises.

    LangGraph runs functions, routing functions included, in tasks of their own: each is contained inside its task.
    """
    from langgraph.pregel import Pregel

    for node in graph.nodes.values():
        for inner in node.subgraphs:
            if isinstance(inner, Pregel):
                contain_nodes(inner)
        if not isinstance(node.bound, Pregel):
            node.bound = _contained(copy(node.bound))
            forget_runner(node)
    for condition in _conditions(graph):
        _contained(condition)


def _conditions(graph: Any) -> Iterator[Runnable[Any, Any]]:
    for branches in graph.builder.branches.values() if hasattr(graph, "builder") else ():
        for branch in branches.values():
            yield branch.path


def _contained(code: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """The runnable with third-party code contained: a LangGraph function is changed in place, anything else is wrapped."""
    function = function_of(code)
    if function is None:
        return code if isinstance(code, ContainedNode) else ContainedNode(code)
    if not hasattr(function, _MARK):
        set_function(code, _contained_function(function))
    return code


def _contained_function(function: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(function)
    async def call(*args: Any, **named: Any) -> Any:
        with third_party_code():
            return await function(*args, **named)

    setattr(call, _MARK, True)
    return call


class ContainedNode(Runnable[Any, Any]):
    """A node that is neither a function nor a graph."""

    def __init__(self, code: Runnable[Any, Any]) -> None:
        self._code = code

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - the name of the base
        """Run it without an event loop; its errors reach the caller unchanged."""
        return self._code.invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - the name of the base
        """Run it.

        Raises:
            CodeExited: It called `sys.exit`.
            CodeRaised: It raised something else that is no `Exception`.
        """
        with third_party_code():
            return await self._code.ainvoke(input, config, **kwargs)
