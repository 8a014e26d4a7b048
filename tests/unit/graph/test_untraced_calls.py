"""Hooks of middlewares are called in place while LangSmith's tracing is off."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import langsmith
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, HumanMessage

from utils.a2a_common.graph.model.untraced_calls import in_place_unless_traced, stay_in_place_unless_traced
from utils.testing.scripted_model import ScriptedModel


@pytest.fixture
def installed() -> Iterator[None]:
    stay_in_place_unless_traced()
    yield
    langsmith.set_runtime_overrides()


class Hook(AgentMiddleware[Any, Any]):
    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await handler(request)


@pytest.mark.usefixtures("installed")
async def test_a_hook_that_is_not_traced_visits_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []
    setup = langsmith.run_helpers._setup_run

    def noted(*args: Any, **kwargs: Any) -> Any:
        threads.append(threading.current_thread().name)
        return setup(*args, **kwargs)

    monkeypatch.setattr("langsmith.run_helpers._setup_run", noted)
    graph = create_agent(ScriptedModel(script=[AIMessage("Yes.")]), middleware=[Hook()])
    answered = await graph.ainvoke({"messages": [HumanMessage("Well?")]})
    assert answered["messages"][-1].text == "Yes."
    assert threads
    assert set(threads) == {threading.current_thread().name}


async def test_a_traced_call_is_prepared_in_a_thread() -> None:
    async def in_thread(*_: Any) -> str:
        return "in a thread"

    with langsmith.tracing_context(enabled="local"):
        assert await in_place_unless_traced(in_thread, contextvars.copy_context(), str) == "in a thread"
    assert await in_place_unless_traced(in_thread, contextvars.copy_context(), str, 1) == "1"
