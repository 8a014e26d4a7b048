"""Tools that the contract adds to an agent, so that it meets every behaviour of a tool without its services."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.tools import BaseTool, tool
from langgraph.types import interrupt

from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent

SECRET = "hunter2-of-the-probe"  # noqa: S105 - not a password
"""Text of an exception that no client and no model may see."""

LARGE = "first line of the large result\n" + "2026-11-21 a line in between\n" * 2_100 + "last line: disk full"
"""A tool result of 60 KB whose last line matters."""

QUESTION = "Which colour?"


@tool
async def probe_value(key: str) -> str:
    """Probe: returns a value."""
    return f"value of {key}"


@tool
async def probe_crash(key: str) -> str:
    """Probe: raises an unexpected error."""
    raise ZeroDivisionError(f"{SECRET} {key}")


@tool
async def probe_large() -> str:
    """Probe: returns 60 KB of text."""
    return LARGE


@tool
async def probe_question() -> str:
    """Probe: asks the user."""
    return f"The user said: {interrupt(QUESTION)}"


PROBES: Sequence[BaseTool] = (probe_value, probe_crash, probe_large, probe_question)


def probed(agent_class: type[BaseLangGraphAgent]) -> type[BaseLangGraphAgent]:
    """The agent with the probes beside its own tools; everything else is its own."""

    class Probed(agent_class):  # type: ignore[misc, valid-type]
        """An agent under test."""

        async def tools(self) -> Sequence[BaseTool]:
            """Its own tools and the probes."""
            return [*await super().tools(), *PROBES]

    return Probed
