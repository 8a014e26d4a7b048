"""How sub-agents are reached: never at start, never through a proxy on loopback, never twice for one request."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from a2a.types.a2a_pb2 import TaskState

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.teams import results, team
from tests.e2e.delegation.test_broken_lines import Unreliable, reaching, remote_call
from tests.e2e.wire.agents import Stage, card
from tests.e2e.wire.wiring import serving
from utils.a2a_common.client.agents import registry
from utils.a2a_common.client.transport import connection
from utils.testing.live_agent import running_agent
from utils.testing.live_server import loopback_socket
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


@pytest.mark.long
async def test_an_agent_that_never_answers_for_its_card_holds_up_no_start_and_a_request_only_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module, name in ((registry, "_CARD_SECONDS"), (connection, "CONNECT_SECONDS")):
        monkeypatch.setattr(module, name, 300.0)
    assert registry.LOOK_SECONDS <= 5
    monkeypatch.setattr(registry, "LOOK_SECONDS", 0.1)
    given_up = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(4096):  # the request; nothing is answered
            pass
        given_up.set()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    environ = {"SUB_AGENTS": f"keys=http://127.0.0.1:{server.sockets[0].getsockname()[1]}"}
    async with (
        server,
        asyncio.timeout(60),
        running_agent(PlatformEngineer, environ=environ, model=ScriptedModel.of("Hi.")) as url,
        httpx.AsyncClient(trust_env=False) as http,
        connected(url) as client,
    ):
        assert (await http.get(f"{url}/healthz")).status_code == 200
        assert (await ask(client, "hello")).text == "Hi."
        assert not given_up.is_set()  # its card is still asked for


async def test_sub_agents_on_loopback_are_reached_past_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    script = [calls(call("keys", request="What is a?")), "a is 1."]
    async with asyncio.timeout(60), team(script, keys=["It is 1."]) as it, connected(it.url) as client:
        answer = await ask(client, "a?")
    assert (answer.state, answer.text) == ("completed", "a is 1.")
    assert results(it.supervisor) == ["It is 1."]


async def test_an_agent_that_completes_without_a_word_is_not_asked_again() -> None:
    async def wordless(stage: Stage) -> None:
        await stage.task()
        await stage.status(TaskState.TASK_STATE_WORKING)
        await stage.status(TaskState.TASK_STATE_COMPLETED)

    transport, listener = Unreliable(0, 0), loopback_socket()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    shown = card(url=url)
    async with serving(wordless, shown=shown, listener=listener) as wire, reaching(url, transport) as remote:
        task = await remote.run(remote_call(), lambda _event: None)
    assert (task.state.value, task.text()) == ("completed", "")
    assert transport.sent == len(wire.agent.seen) == 1
