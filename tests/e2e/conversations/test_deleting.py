"""What a person deletes is gone: from the service, from the agents of ours behind it, and from every file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from a2a.client import Client
from a2a.utils.errors import TaskNotFoundError, UnsupportedOperationError
from pydantic import PrivateAttr

from multi_agents.cli.errors import AgentRefused
from multi_agents.cli.peer.connection import plain_errors
from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.conversations.asking import asked, files_with
from utils.a2a_common.client.conversations import ask_conversations
from utils.a2a_common.client.transport.connection import Connection, fetch_card, http_client
from utils.a2a_common.client.transport.errors import AgentBusy
from utils.a2a_common.protocol.conversations import Action, ConversationsRequest
from utils.a2a_common.server import conversations
from utils.testing.live_agent import running_agent
from utils.testing.live_server import loopback_socket
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

SECRET = "zanzibar-4711"
LONG = " ".join(f"word{number}" for number in range(3_000))


@asynccontextmanager
async def supervisor(home: Path, keys: str, text: str, trust: str = "own") -> AsyncIterator[Client]:
    says = [calls(call("keys", request=f"the value of {text}")), f"{text} is 1. {LONG}", "Hi."]
    async with (
        running_agent(
            PlatformEngineer,
            home=home,
            model=ScriptedModel(script=says),
            environ={"SUB_AGENTS": f"keys={keys}", "SUB_AGENTS_TRUST": f"keys={trust}"},
        ) as url,
        connected(url) as client,
    ):
        yield client


def finding(text: str) -> ScriptedModel:
    return ScriptedModel(script=[calls(call("lookup", key=text)), f"{text} is 1. {LONG}"])


async def test_a_deleted_conversation_is_in_no_file_of_any_agent(tmp_path: Path) -> None:
    async with (
        running_agent(Keys, home=tmp_path, model=finding(SECRET)) as keys,
        connected(keys) as below,
        supervisor(tmp_path, keys, SECRET) as client,
    ):
        context_id = (await ask(client, f"What is {SECRET}? {LONG}")).context_id
        other = (await ask(client, "Stay.")).context_id
        await asked(client, action="rename", contextId=context_id, title=f"About {SECRET}")
        homes = {name.split("/")[0] for name in files_with(tmp_path, SECRET)}
        assert homes == {"keys", "platform-engineer"}
        told = await asked(client, action="delete", contextId=context_id)
        assert (told["deleted"], told["tasks"], told["kept"]) == (True, 1, [])
        assert files_with(tmp_path, SECRET) == []
        assert (await asked(below, action="list"))["conversations"] == []
        left = (await asked(client, action="list"))["conversations"]
        assert [each["contextId"] for each in left] == [other]
        with pytest.raises(TaskNotFoundError, match="There is no such conversation"):
            await asked(client, action="delete", contextId=context_id)


async def test_a_foreign_agent_is_named_since_it_cannot_be_made_to_delete(tmp_path: Path) -> None:
    async with (
        running_agent(Keys, home=tmp_path / "theirs", model=finding("a")) as keys,
        supervisor(tmp_path / "ours", keys, "a", "foreign") as client,
    ):
        context_id = (await ask(client, "What is a?")).context_id
        told = await asked(client, action="delete", contextId=context_id)
    assert told["kept"] == [{"agent": "keys", "reason": "foreign"}]


async def test_while_an_agent_of_ours_is_away_nothing_is_deleted_unless_only_here_is_asked_for(
    tmp_path: Path,
) -> None:
    listener = loopback_socket()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with supervisor(tmp_path, url, "a") as client:
        async with running_agent(Keys, home=tmp_path, model=finding("a"), listener=listener):
            context_id = (await ask(client, "What is a?")).context_id
        with pytest.raises(UnsupportedOperationError, match=r"Nothing was deleted here.*keys"):
            await asked(client, action="delete", contextId=context_id)
        (kept,) = (await asked(client, action="list"))["conversations"]
        assert kept["contextId"] == context_id
        told = await asked(client, action="delete", contextId=context_id, hereOnly=True)
        assert told["kept"] == [{"agent": "keys", "reason": "unreachable"}]
        assert (await asked(client, action="list"))["conversations"] == []


async def test_a_turn_that_runs_is_cancelled_before_its_conversation_is_deleted(tmp_path: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedModel.of(ScriptedReply("Never said.", gate=gate))
    async with running_agent(Keys, home=tmp_path, model=model) as keys, connected(keys) as client:
        running = asyncio.create_task(ask(client, f"What is {SECRET}?"))
        async with asyncio.timeout(30):
            while not (found := (await asked(client, action="list"))["conversations"]):
                await asyncio.sleep(0.01)
        told = await asked(client, action="delete", contextId=found[0]["contextId"])
        assert told["deleted"] is True
        assert (await running).state == "canceled"
        assert files_with(tmp_path, SECRET) == []


class _Lingers(ScriptedModel):
    """A model whose answer, once it is cancelled, keeps its turn until it is let go."""

    _cancelled: asyncio.Event = PrivateAttr(default_factory=asyncio.Event)
    _let_go: asyncio.Event = PrivateAttr(default_factory=asyncio.Event)

    async def _astream(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        try:
            async for chunk in super()._astream(*args, **options):
                yield chunk
        except asyncio.CancelledError:
            self._cancelled.set()
            await self._let_go.wait()
            raise


async def test_where_a_turn_begins_while_its_conversation_is_deleted_the_client_may_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "HOLD_SECONDS", 0.05)
    started, gate = asyncio.Event(), asyncio.Event()
    first = ScriptedReply("Never said.", started=started, gate=asyncio.Event())
    model = _Lingers(script=[first, ScriptedReply("Here I am.", gate=gate)])
    async with (
        asyncio.timeout(60),
        running_agent(Keys, home=tmp_path, model=model) as url,
        connected(url) as client,
        http_client(url) as http,
    ):
        running = asyncio.create_task(ask(client, "What is a?"))
        await started.wait()
        (found,) = (await asked(client, action="list"))["conversations"]
        connection = Connection.open("keys", await fetch_card(http, url), http)
        delete = ConversationsRequest(Action.DELETE, found["contextId"])
        deleting = asyncio.create_task(ask_conversations(connection, delete))
        await model._cancelled.wait()
        next_one = asyncio.create_task(ask(client, "And b?", context_id=found["contextId"]))
        while (await asked(client, action="list"))["conversations"][0]["tasks"] == 1:
            await asyncio.sleep(0.01)
        model._let_go.set()
        with pytest.raises(AgentBusy) as caught:
            await deleting
        assert caught.value.retry_after == 1
        with pytest.raises(AgentRefused, match=r"is busy\. Nothing was changed"), plain_errors(url):
            raise caught.value
        gate.set()
        assert (await running).state == "canceled"
        assert (await next_one).text == "Here I am."
        told = await ask_conversations(connection, delete)
    assert told is not None
    assert (told["deleted"], told["tasks"]) == (True, 2)
