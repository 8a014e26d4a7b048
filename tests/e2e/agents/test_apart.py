"""Conversations of different owners, and several at once, share nothing: over HTTP, with real graphs."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest
from langchain_core.messages import BaseMessage

from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.delegation.teams import team
from tests.e2e.wire.test_scope import AUTH, as_user
from tests.e2e.wire.wiring import HEADERS, message
from tests.support.task_logs import memory_log
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.extensions import USAGE_EXTENSION
from utils.a2a_common.server.agent_app import agent_card
from utils.a2a_common.server.agent_runtime import open_runtime
from utils.a2a_common.server.agent_service import AgentService
from utils.a2a_common.server.app import build_app
from utils.events import Usage
from utils.settings import ServerSettings
from utils.testing.live_server import running
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


def heard(messages: Sequence[BaseMessage]) -> str:
    return " | ".join(str(each.content) for each in messages if each.type == "human")


@asynccontextmanager
async def behind_a_login(model: ScriptedModel) -> AsyncIterator[str]:
    """An agent whose callers are who they say they are."""
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = AgentSettings.load({"PLATFORM_ENGINEER_HOME": str(home)})
        runtime = await open_runtime(Keys.name, settings, stack, model=model)
        agent = Keys(runtime)
        service = AgentService(
            card=agent_card(agent, "http://127.0.0.1:1"),
            executor=agent.executor(),
            log=memory_log(),
            middleware=AUTH,
            on_start=agent.build,
        )
        yield await stack.enter_async_context(running(build_app(service, ServerSettings.load({}))))


@pytest.mark.parametrize(
    ("other", "tenant"), [("bob", ""), ("ann", "elsewhere"), ("", "")], ids=["user", "tenant", "anonymous"]
)
async def test_a_context_id_of_another_owner_opens_none_of_their_conversation(
    other: str, tenant: str
) -> None:
    async with behind_a_login(ScriptedModel(script=heard)) as url, httpx.AsyncClient(trust_env=False) as http:

        async def said(text: str, headers: dict[str, str], of: str = "") -> str:
            params = {"message": message(text, contextId="ours"), "tenant": of}
            body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}
            task = (await http.post(f"{url}/", json=body, headers=headers)).json()["result"]["task"]
            answer: str = task["artifacts"][0]["parts"][0]["text"]
            return answer

        assert await said("my secret", as_user("ann")) == "my secret"
        assert await said("and again", as_user("ann")) == "my secret | and again"
        assert await said("what was said?", as_user(other) if other else HEADERS, tenant) == "what was said?"


async def test_two_tasks_at_once_have_each_their_own_plan_and_usage() -> None:
    gate = asyncio.Event()
    arrived: list[str] = []

    def supervise(messages: Sequence[BaseMessage]) -> ScriptedReply:
        asked = heard(messages)
        used = Usage(1 if asked == "apples" else 1_000)
        if messages[-1].type == "tool":
            return ScriptedReply(f"{asked} are done", usage=used)
        return ScriptedReply(tool_calls=[call("keys", request=f"count {asked}")], usage=used)

    def look(messages: Sequence[BaseMessage]) -> ScriptedReply:
        arrived.append(heard(messages))
        if len(arrived) == 2:
            gate.set()
        return ScriptedReply("found", gate=gate)

    async with team(supervise, keys=look) as it, connected(it.url) as client:
        answers = await asyncio.gather(ask(client, "apples"), ask(client, "pears"))
    assert sorted(arrived) == ["count apples", "count pears"]
    for answer, asked, tokens in zip(answers, ("apples", "pears"), (2, 2_000), strict=True):
        assert answer.text == f"{asked} are done"
        assert {step["title"] for plan in answer.plans for step in plan} == {f"count {asked}"}
        assert {step["status"] for step in answer.plans[-1]} == {"completed"}
        assert answer.metadata(USAGE_EXTENSION)[-1]["platform-engineer"]["input_tokens"] == tokens


async def test_two_conversations_have_two_remote_ones() -> None:
    script = [calls(call("keys", request="do one")), "first", calls(call("keys", request="do two")), "second"]
    async with team(script, keys=["r1", "r2"]) as it, connected(it.url) as client:
        await ask(client, "one")
        await ask(client, "two")
        remote = await it.tasks("keys")
    assert len({task.context_id for task in remote}) == len(remote) == 2
    shown = [str(each.content) for each in it.models["keys"].requests[1].messages if each.type == "human"]
    assert shown == ["do two"]
