"""A sub-agent that restarts is waited for, by a request and by an answer; one that is gone is said to be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import SendMessageRequest

from tests.e2e.agents.peers import Answer, Keys, connected, message
from tests.e2e.delegation.teams import Asker, model, supervising
from tests.ports import free_port
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.resilience.breaker import Breaker
from utils.testing.live_agent import running_agent
from utils.testing.live_server import loopback_socket
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

SOON = {"SUB_AGENT_REFRESH_SECONDS": "0.05"}
UNSEEN = {"SUB_AGENT_REFRESH_SECONDS": "300"}
"""The agent is looked at so seldom that only a call to it shows that it is gone."""


class Restarting:
    """An agent on one port and one folder, which goes and comes back."""

    def __init__(self, agent: type[BaseLangGraphAgent], home: Path, script: Any) -> None:
        self._agent, self._home, self._model = agent, home, model(script)
        self._port = free_port()
        self._stack = AsyncExitStack()
        self.url = f"http://127.0.0.1:{self._port}"

    async def start(self) -> None:
        listener = loopback_socket(self._port)
        await self._stack.enter_async_context(
            running_agent(self._agent, model=self._model, home=self._home, listener=listener)
        )

    async def stop(self) -> None:
        await self._stack.aclose()
        self._stack = AsyncExitStack()


@asynccontextmanager
async def restarting(agent: type[BaseLangGraphAgent], home: Path, script: Any) -> AsyncIterator[Restarting]:
    process = Restarting(agent, home, script)
    await process.start()
    try:
        yield process
    finally:
        await process.stop()


async def told_to_wait(
    client: Client, request: SendMessageRequest, back: Callable[[], Awaitable[None]]
) -> Answer:
    """The answer to a request; the agent comes back once the client was told that it is waited for."""
    events, gone = [], True
    async with asyncio.timeout(60):
        async for event in client.send_message(request):
            events.append(event)
            if gone and "away" in str(event):
                gone = False
                await back()
    assert not gone, events
    return Answer(events)


async def test_a_request_to_an_agent_that_restarts_waits_for_it_and_says_so(tmp_path: Path) -> None:
    script = [calls(call("keys", request="What is a?")), "a is 1."]
    async with (
        restarting(Keys, tmp_path, ["a is 1"]) as keys,
        supervising({"keys": keys.url}, model(script), SOON) as url,
        connected(url) as client,
    ):
        await keys.stop()
        answer = await told_to_wait(client, message("What is a?"), keys.start)
    assert (answer.state, answer.text) == ("completed", "a is 1.")


@pytest.mark.parametrize("looks", [SOON, UNSEEN], ids=["seen to go", "not seen to go"])
async def test_an_answer_to_an_agent_that_restarts_waits_for_it_and_says_so(
    looks: dict[str, str], tmp_path: Path
) -> None:
    script = [calls(call("asker", request="Find places")), "There are 3 places."]
    asks = [calls(call("where")), "Found 3 places in Newark."]
    async with (
        restarting(Asker, tmp_path, asks) as asker,
        supervising({"asker": asker.url}, model(script), looks) as url,
        connected(url) as client,
    ):
        asked = Answer([event async for event in client.send_message(message("Find places near me"))])
        await asker.stop()
        reply = message("07103", context_id=asked.context_id, task_id=asked.task_id)
        answer = await told_to_wait(client, reply, asker.start)
    assert (answer.state, answer.text) == ("completed", "There are 3 places.")


@pytest.mark.parametrize("looks", [SOON, UNSEEN], ids=["seen to go", "not seen to go"])
async def test_the_question_of_an_agent_that_does_not_come_back_is_asked_again_and_can_be_answered_later(
    looks: dict[str, str], tmp_path: Path
) -> None:
    script = [calls(call("asker", request="Find places")), "There are 3 places."]
    settings = {**looks, "SUB_AGENT_RESTART_SECONDS": "0.3"}
    asks = [calls(call("where")), "Found 3 places in Newark."]
    async with (
        restarting(Asker, tmp_path, asks) as asker,
        supervising({"asker": asker.url}, model(script), settings) as url,
        connected(url) as client,
    ):
        asked = Answer([event async for event in client.send_message(message("Find places near me"))])
        await asker.stop()
        reply = message("07103", context_id=asked.context_id, task_id=asked.task_id)
        again = Answer([event async for event in client.send_message(reply)])
        assert again.state == "input_required", again.last_words
        assert "cannot be reached right now" in again.last_words
        await asker.start()
        reply = message("07103", context_id=asked.context_id, task_id=asked.task_id)
        answer = Answer([event async for event in client.send_message(reply)])
    assert (answer.state, answer.text) == ("completed", "There are 3 places.")


async def test_an_answer_that_the_breaker_of_its_agent_holds_back_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = [calls(call("asker", request="Find places")), "There are 3 places."]
    asks = [calls(call("where")), "Found 3 places in Newark."]
    async with (
        restarting(Asker, tmp_path, asks) as asker,
        supervising({"asker": asker.url}, model(script), UNSEEN) as url,
        connected(url) as client,
    ):
        asked = Answer([event async for event in client.send_message(message("Find places near me"))])
        reply = message("07103", context_id=asked.context_id, task_id=asked.task_id)
        with monkeypatch.context() as opened:  # by calls for others, just before this one
            opened.setattr(Breaker, "admits", lambda _breaker: False)
            again = Answer([event async for event in client.send_message(reply)])
        assert again.state == "input_required", again.last_words
        reply = message("07103", context_id=asked.context_id, task_id=asked.task_id)
        answer = Answer([event async for event in client.send_message(reply)])
    assert (answer.state, answer.text) == ("completed", "There are 3 places.")
