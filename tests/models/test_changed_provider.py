"""A conversation that is begun with one provider and continued with another, which takes the calls of the first."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from a2a.client import Client

from tests.e2e.agents.peers import ask, connected
from utils.a2a_common import BaseLangGraphAgent, agent_tool
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import Call, ChatRequest, Reply, StrictProvider, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

GEMINI_3 = {"LLM_MODEL": "gemini-3-pro-preview"}
"""A model that refuses a call of the current turn without a signature."""


class Keeper(BaseLangGraphAgent):
    """Keeps things."""

    name = "keeper"
    description = "Keeps things."

    @agent_tool(read_only=True, examples=["find a"])
    async def find(self, name: str) -> str:
        """Find a thing."""
        return f"found {name}"

    @agent_tool(examples=["delete a"], approval="delete a thing")
    async def delete(self, name: str) -> str:
        """Delete a thing."""
        return f"deleted {name}"


@asynccontextmanager
async def keeper(double: StrictProvider, provider: str, home: Path, **environ: str) -> AsyncIterator[Client]:
    settings = {**double.environment(provider), **environ}
    async with running_agent(Keeper, environ=settings, home=home) as url, connected(url) as client:
        yield client


def script(*replies: Reply) -> Callable[[ChatRequest], Reply]:
    left = list(replies)
    return lambda _request: left.pop(0)


async def test_gemini_goes_on_with_a_conversation_whose_calls_another_model_made(tmp_path: Path) -> None:
    calling = Reply("", [Call("c1", "find", {"name": "a"})])
    with run_strict_provider(script(calling, Reply("Found."), calling, Reply("Found again."))) as double:
        async with keeper(double, "openai", tmp_path) as client:
            first = await ask(client, "find a")
        async with keeper(double, "google-gemini", tmp_path, **GEMINI_3) as client:
            second = await ask(client, "and again", context_id=first.context_id)
        assert double.rejections == []
    assert (second.state, second.text) == ("completed", "Found again.")


async def test_gemini_takes_the_result_of_a_call_that_another_model_made_in_the_same_turn(
    tmp_path: Path,
) -> None:
    calling = Reply("", [Call("c1", "delete", {"name": "a"})])
    with run_strict_provider(script(calling, Reply("It is gone."))) as double:
        async with keeper(double, "openai", tmp_path) as client:
            asked = await ask(client, "delete a")
        async with keeper(double, "google-gemini", tmp_path, **GEMINI_3) as client:
            answer = await ask(
                client, "yes", context_id=asked.context_id, task_id=asked.task_id, nonce=asked.nonce
            )
        assert double.rejections == []
    assert (answer.state, answer.text) == ("completed", "It is gone.")
