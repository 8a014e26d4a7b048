"""Two supervisors that delegate to each other, on real servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import ask, connected
from tests.e2e.agents.test_delegation import until_ready
from tests.e2e.delegation.teams import Middle, Team, model, results
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION
from utils.messages.results import ToolProblem, parse_result
from utils.testing.live_agent import running_agent
from utils.testing.live_server import loopback_socket
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

Words = Callable[[str], str]


def handing_on(other: str, words: Words) -> Any:
    """A model that hands each request on to the other agent, and then repeats the result in its own words."""

    def script(messages: Sequence[BaseMessage]) -> Any:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            return f"{other} said: {last.text}"
        asked = [message for message in messages if isinstance(message, HumanMessage)][-1]
        return calls(call(other, request=words(asked.text)))

    return script


@asynccontextmanager
async def pair(at_first: Any, at_second: Any) -> AsyncIterator[Team]:
    """Two supervisors, each the only sub-agent of the other."""
    listeners = {"office": loopback_socket(), "middle": loopback_socket()}
    urls = {name: f"http://127.0.0.1:{each.getsockname()[1]}" for name, each in listeners.items()}
    models = {"office": model(at_first), "middle": model(at_second)}
    classes: dict[str, type[PlatformEngineer]] = {"office": PlatformEngineer, "middle": Middle}
    others = {"office": "middle", "middle": "office"}
    async with AsyncExitStack() as stack:
        for name, other in others.items():
            environ = {
                "SUB_AGENTS": f"{other}={urls[other]}",
                "SUB_AGENT_REFRESH_SECONDS": "0.1",
                "SUB_AGENT_TIMEOUT_SECONDS": "20",
            }
            agent = running_agent(
                classes[name], environ=environ, model=models[name], listener=listeners[name]
            )
            await stack.enter_async_context(agent)
        await asyncio.gather(*(until_ready(url) for url in urls.values()))
        yield Team(urls["office"], models, urls)


async def test_two_agents_that_hand_the_same_request_to_and_fro_are_stopped_with_a_result() -> None:
    verbatim = handing_on("middle", str), handing_on("office", str.upper)
    async with pair(*verbatim) as it, connected(it.url) as client:
        answer = await ask(client, "What is a?")
        tasks = [len(await it.tasks(name)) for name in ("office", "middle")]
    problem = parse_result(results(it.models["middle"])[0])
    assert isinstance(problem, ToolProblem)
    assert problem.error == "delegation_loop"
    assert "Answer with what you have" in problem.message
    assert answer.state == "completed"
    assert answer.text.startswith("middle said: office said: ")
    assert tasks == [1, 1]
    below = [each["activity"] for each in answer.metadata(ACTIVITY_EXTENSION) if "activity" in each]
    assert ("delegation_finished", "rejected") in [(each["kind"], each.get("state")) for each in below]


async def test_an_agent_may_be_asked_back_for_something_else() -> None:
    first = [calls(call("middle", request="Explain a with b")), "b is 2", "a is b plus 1: 3"]
    second = [calls(call("office", request="What is b?")), "a is b plus 1, and b is 2"]
    async with pair(first, second) as it, connected(it.url) as client:
        answer = await ask(client, "Explain a")
        tasks = [len(await it.tasks(name)) for name in ("office", "middle")]
    assert answer.text == "a is b plus 1: 3"
    assert results(it.models["middle"]) == ["b is 2"]
    assert tasks == [2, 1]


async def test_agents_that_rephrase_what_they_hand_on_come_to_an_end_as_well() -> None:
    numbers = count(1)
    rephrasing = (
        handing_on("middle", lambda _: f"Request {next(numbers)}"),
        handing_on("office", lambda _: f"Request {next(numbers)}"),
    )
    async with pair(*rephrasing) as it, connected(it.url) as client:
        answer = await ask(client, "What is a?")
        tasks = [len(await it.tasks(name)) for name in ("office", "middle")]
    assert answer.state == "completed"
    assert "handed on by 8 agents already" in answer.text
    assert tasks == [4, 4]
