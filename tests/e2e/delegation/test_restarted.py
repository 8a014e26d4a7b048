"""A sub-agent dies under load and is started again; another one answers too late for a while."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.client import Client

from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.delegation.teams import supervising
from tests.e2e.observability.processes import KEYS, ROOT
from tests.ports import free_port
from tests.preloaded import process as preloaded
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls
from utils.testing.strict_provider import ChatRequest, Reply, StrictProvider, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

ANSWERED = "The agent said: a is 1"
REFUSED = "unavailable since"
LATE = "did not finish within"


@pytest.fixture(scope="module")
def double() -> Iterator[StrictProvider]:
    with run_strict_provider() as provider:
        yield provider


def always_one(request: ChatRequest) -> Reply:
    """The sub-agent's model."""
    del request
    return Reply("a is 1")


def delegating(messages: Sequence[Any]) -> Any:
    """The supervisor's model."""
    if messages[-1].type == "tool":
        return f"The agent said: {messages[-1].content}"
    return calls(call("keys", request="What is a?"))


@asynccontextmanager
async def keys_process(
    home: Path, port: int, double: StrictProvider
) -> AsyncIterator[asyncio.subprocess.Process]:
    """The agent as a process of its own; the block begins when it is ready."""
    environ = {
        **os.environ, **double.environment("openai"), "PYTHONPATH": str(ROOT), "PLATFORM_ENGINEER_HOME": str(home),
    }  # fmt: skip
    started = await preloaded.start(
        [*KEYS, "--port", str(port)], env=environ, cwd=home, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await until_shown(f"http://127.0.0.1:{port}", {"without": []})
        yield started
    finally:
        if started.returncode is None:
            started.send_signal(signal.SIGTERM)
        await started.wait()


async def until_shown(url: str, wanted: dict[str, Any]) -> None:
    """Wait until `/readyz` says these things."""
    async with httpx.AsyncClient(trust_env=False) as http, asyncio.timeout(60):
        while True:
            try:
                said = (await http.get(f"{url}/readyz")).json()
            except httpx.TransportError:
                said = {}
            if said.items() >= wanted.items():
                return
            await asyncio.sleep(0.02)


async def asked_until(client: Client, words: str) -> str:
    """Three users ask, again and again, until one reads these words."""
    async with asyncio.timeout(60):
        while True:
            answers = await asyncio.gather(*(ask(client, "a?") for _ in range(3)))
            said = [
                f"{answer.text} {answer.last_words}" for answer in answers
            ]  # a failure is told in the status
            found = [text for text in said if words in text]
            if found:
                return found[0]


@pytest.mark.timeout(600)  # two starts of a real process
@pytest.mark.long
async def test_an_agent_that_was_killed_under_load_is_used_as_soon_as_it_is_ready_again(
    double: StrictProvider, tmp_path: Path
) -> None:
    double.reset(always_one)
    port = free_port()
    urls = {"keys": f"http://127.0.0.1:{port}"}
    async with (
        keys_process(tmp_path, port, double) as killed,
        supervising(urls, ScriptedModel(script=delegating), {"SUB_AGENT_RESTART_SECONDS": "1"}) as url,
        connected(url) as client,
    ):
        assert (await ask(client, "a?")).text == ANSWERED
        load = asyncio.create_task(asked_until(client, REFUSED))
        killed.send_signal(signal.SIGKILL)
        await load
        async with keys_process(tmp_path, port, double):
            await until_shown(url, {"without": []})
            first = await ask(client, "a?")
    assert first.text == ANSWERED


@pytest.mark.long
async def test_a_slow_agent_shuts_nobody_out_while_its_card_can_be_read() -> None:
    """The deadline belongs to the turns that came to it: the next user's request is sent all the same."""
    well = asyncio.Event()

    def slow(messages: Sequence[Any]) -> Any:
        del messages
        return ScriptedReply(text="a is 1", gate=well)

    environ = {
        "SUB_AGENT_TIMEOUT_SECONDS": "12"
    }  # the last request is answered within it, on a busy machine too
    async with (
        running_agent(Keys, model=ScriptedModel(script=slow)) as keys_url,
        supervising({"keys": keys_url}, ScriptedModel(script=delegating), environ) as url,
        connected(url) as client,
    ):
        late = await asyncio.gather(*(ask(client, "a?") for _ in range(6)))
        well.set()
        first = await ask(client, "a?")
    assert [LATE in answer.last_words + answer.text for answer in late] == [True] * 6
    assert first.text == ANSWERED
