"""Which tools a case is tried with."""

from __future__ import annotations

from functools import cache

from langchain_core.tools import BaseTool

from tests.eval import routing_data


@cache
def tools_of(agent: str) -> list[BaseTool]:
    """The tools of an agent as the dataset describes them."""
    return routing_data.written_tools(agent)
