"""The black-box checks pass for agents of ours, and find what foreign ones do wrong."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Part,
    Role,
    TaskState,
)
from starlette.applications import Starlette

from agents.template.agent import TemplateAgent
from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys
from tests.e2e.wire.agents import Scripted, Stage, echo
from tests.e2e.wire.wiring import serving
from utils.testing.conformance import CHECKS, NoAgent, Outcome, conformance
from utils.testing.live_agent import running_agent
from utils.testing.live_server import loopback_socket, running
from utils.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.listens

Found = dict[str, tuple[Outcome, str]]


async def look(url: str) -> Found:
    return {one.check: (one.outcome, one.reason) async for one in conformance(url, seconds=20)}


def failed(found: Found) -> set[str]:
    return {check for check, (outcome, _) in found.items() if outcome is Outcome.FAIL}


def skipped(found: Found) -> dict[str, str]:
    return {check: reason for check, (outcome, reason) in found.items() if outcome is Outcome.SKIPPED}


def card(url: str, *, binding: str = "JSONRPC", version: str = "1.0", streaming: bool = True) -> AgentCard:
    return AgentCard(
        name="Foreign",
        description="Somebody else's.",
        version="1.0.0",
        supported_interfaces=[AgentInterface(url=url, protocol_binding=binding, protocol_version=version)],
        capabilities=AgentCapabilities(streaming=streaming),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="s", name="S", description="Something.", tags=["s"])],
    )


@asynccontextmanager
async def foreign(
    script: Callable[[Stage], Awaitable[None]],
    shown: Callable[[str], AgentCard] = card,
    listener: socket.socket | None = None,
) -> AsyncIterator[str]:
    """A bare server of the SDK, without anything of ours."""
    listener = listener or loopback_socket()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    described = shown(url)
    handler = DefaultRequestHandler(Scripted(script), InMemoryTaskStore(), described)
    routes = [
        *create_agent_card_routes(described),
        *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
        *create_rest_routes(handler),
    ]
    async with running(Starlette(routes=routes), listener=listener) as served:
        yield served


async def in_one_message(stage: Stage) -> None:
    answer = Message(
        message_id="m", role=Role.ROLE_AGENT, parts=[Part(text="Hi.")], context_id=stage.context.context_id
    )
    await stage.queue.enqueue_event(answer)


async def changes_its_mind(stage: Stage) -> None:
    await stage.task()
    await stage.status(TaskState.TASK_STATE_COMPLETED)
    await stage.status(TaskState.TASK_STATE_WORKING)
    await stage.status(TaskState.TASK_STATE_FAILED)


async def talks_on(stage: Stage) -> None:
    await echo(stage)
    await stage.chunk("late", append=False, artifact="late")


async def never_ends(stage: Stage) -> None:
    await stage.task()
    await stage.status(TaskState.TASK_STATE_WORKING)


async def asks_back(stage: Stage) -> None:
    await stage.task()
    await stage.status(TaskState.TASK_STATE_INPUT_REQUIRED)


@pytest.mark.parametrize("agent_class", [TemplateAgent, PlatformEngineer, Keys])
async def test_an_agent_of_ours_breaks_no_rule(agent_class):
    model = ScriptedModel(script=lambda _: "Hello to you.")
    environ = {"EMBEDDINGS_PROVIDER": "none", "SUB_AGENT_WAIT_SECONDS": "0"}  # nobody is below it
    async with running_agent(agent_class, environ=environ, model=model) as url:
        found = await look(url)
    assert failed(found) == set()
    assert set(skipped(found)) == {
        "push is refused where not declared",
        "streaming is refused where not declared",
        "the stream of a reply begins with its task",
    }
    assert len(found) == len(CHECKS)


async def test_an_agent_of_ours_begins_the_stream_of_a_reply_with_its_task():
    listener = loopback_socket()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with serving(asks_back, shown=card(url), listener=listener):
        found = await look(url)
    assert found["the stream of a reply begins with its task"] == (Outcome.PASS, "")


async def test_a_foreign_agent_that_begins_the_stream_of_a_reply_with_a_status_is_told_so():
    async with foreign(asks_back) as url:
        found = await look(url)
    assert found["the stream of a reply begins with its task"] == (
        Outcome.FAIL,
        "the first event is status_update",
    )


@pytest.mark.parametrize(
    "script, check",
    [
        (changes_its_mind, "a stream ends once, and nothing follows"),
        (talks_on, "a stream ends once, and nothing follows"),
        (never_ends, "a stream ends once, and nothing follows"),
    ],
)
async def test_a_foreign_agent_that_breaks_a_rule_is_told_which(script, check):
    async with foreign(script) as url:
        found = [one async for one in conformance(url, seconds=2)]
    assert check in {one.check for one in found if one.outcome is Outcome.FAIL}
    assert all(one.reason for one in found if one.outcome is not Outcome.PASS)


async def test_an_agent_that_answers_with_messages_is_not_held_to_rules_about_tasks():
    async with foreign(in_one_message) as url:
        found = await look(url)
    assert failed(found) == set()
    assert found["a stream begins with its task, or is one message"][0] is Outcome.PASS
    assert (
        skipped(found)["an ended task is not cancelable"]
        == "the agent answers with a message, without a task"
    )


async def test_an_agent_that_asks_back_is_not_waited_for():
    async with foreign(asks_back) as url:
        found = await look(url)
    assert "choose another --ask" in skipped(found)["historyLength 0 means no history"]
    assert found["a stream ends once, and nothing follows"][0] is Outcome.PASS


async def test_an_agent_without_json_rpc_is_looked_at_over_rest():
    async with foreign(echo, lambda url: card(url, binding="HTTP+JSON")) as url:
        found = await look(url)
    assert failed(found) == set()
    assert found["a stream begins with its task, or is one message"] == (Outcome.PASS, "")
    assert (
        skipped(found)["malformed JSON is a parse error"]
        == "the card names no JSON-RPC interface of protocol 1.0"
    )


async def test_an_agent_of_protocol_0_3_is_looked_at():
    async with foreign(echo, lambda url: card(f"{url}/", version="0.3")) as url:
        found = await look(url)
    assert failed(found) == set()
    assert found["a message is answered with a task or a message"] == (Outcome.PASS, "")
    assert found["a stream ends once, and nothing follows"] == (Outcome.PASS, "")
    assert "0.3" in skipped(found)["tasks are listed without artifacts"]


async def test_what_a_card_does_not_declare_is_skipped_and_must_be_refused():
    async with foreign(echo, lambda url: card(url, streaming=False)) as url:
        found = await look(url)
    assert skipped(found)["a stream is about one task"] == "the card declares no streaming"
    assert found["push is refused where not declared"] == (Outcome.PASS, "")
    assert found["streaming is refused where not declared"] == (Outcome.PASS, "")


async def test_an_address_without_an_agent_is_told_in_a_sentence():
    with pytest.raises(NoAgent, match=r"There is no A2A agent at http://127\.0\.0\.1:9"):
        await look("http://127.0.0.1:9")
    async with running(Starlette()) as url:
        with pytest.raises(NoAgent):
            await look(url)
