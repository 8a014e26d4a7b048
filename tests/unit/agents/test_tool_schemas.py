"""An agent that is built again makes no models of its tools' arguments again, which LangChain takes 9 ms for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agents.rag.retrieve.tools import build_tools
from agents.rag.settings import RagSettings
from multi_agents.platform_engineer.memory.tools import memory_tools
from utils.context.tools import context_tools

MAKERS: dict[str, Callable[[Any], Any]] = {
    "documents": lambda library: build_tools(library, RagSettings()),
    "memory": memory_tools,
    "conversation": context_tools,
}


@pytest.mark.parametrize("maker", MAKERS)
def test_agents_of_one_process_share_what_their_tools_take_and_not_what_they_work_on(maker: str) -> None:
    first, second = (MAKERS[maker](object()) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert one.args_schema is other.args_schema
        assert one.tool_call_schema == other.tool_call_schema
        assert one.coroutine is not other.coroutine
