"""An agent that only reads says so on its card, and a failure after it was asked is no unknown outcome."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest
from langgraph.graph import START, StateGraph

from agents.github.agent import GitHubAgent
from agents.rag.agent import RagAgent
from agents.template.agent import TemplateAgent
from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.payer import Payer, cut, page, paying
from tests.e2e.delegation.teams import Middle, model, supervising
from tests.e2e.mcp.faulty import WAITS, faulty
from tests.support.passing_time import pass_seconds
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.own.parts import GraphParts
from utils.a2a_common.graph.questions.asked_by_tools import ask_user
from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION, READ_ONLY_EXTENSION
from utils.a2a_common.protocol.request import AgentRequest
from utils.context.state import ContextState
from utils.testing.contract.client import client_of
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

PLAIN = {"EMBEDDINGS_PROVIDER": "none", "RAG_SOURCES": "none"}
LIMIT = 60
LIMITED = {"TURN_TIMEOUT_SECONDS": str(LIMIT)}


class Reader(BaseLangGraphAgent):
    """Looks at versions."""

    name = "reader"
    description = "Looks at versions."

    @agent_tool(read_only=True, examples=["Is 1.2 there?"])
    async def look(self, version: str) -> str:
        """Look whether a version is there."""
        return f"{version} is there"

    @agent_tool(read_only=True)
    async def look_where(self) -> str:
        """Look whether a version is where the user says."""
        return f"1.2 is there, in {ask_user('Where?').text}"


class Deployer(Reader):
    """Looks at versions, and deploys them."""

    name = "deployer"

    @agent_tool()
    async def deploy(self, version: str) -> str:
        """Deploy a version."""
        return f"{version} is deployed"


class OwnGraph(Reader):
    """Looks at versions in a graph of its own, whose nodes may do anything."""

    name = "own-graph"

    async def graph(self, parts: GraphParts) -> StateGraph[Any, Any, Any, Any]:
        graph = StateGraph(ContextState, context_schema=AgentRequest)
        graph.add_node("agent", parts.agent)
        graph.add_edge(START, "agent")
        return graph


async def card_at(url: str) -> bool:
    """Whether the card of an agent says that it only reads."""
    async with client_of(url) as client:
        card = await client.card()
    return READ_ONLY_EXTENSION in {each["uri"] for each in card["capabilities"]["extensions"]}


@pytest.mark.parametrize(
    ("agent", "environ", "reads"),
    [
        (GitHubAgent, {}, True),
        (GitHubAgent, {"GITHUB_WRITE": "true", "GITHUB_TOKEN": "of-the-test"}, False),
        (RagAgent, {}, True),
        (TemplateAgent, {}, True),
        (Reader, {}, True),
        (Deployer, {}, False),
        (OwnGraph, {}, False),
    ],
)
async def test_the_card_of_an_agent_says_that_it_only_reads_if_each_of_its_tools_is_declared_so(
    agent: type[BaseLangGraphAgent], environ: Mapping[str, str], reads: bool
) -> None:
    async with running_agent(agent, environ={**PLAIN, **environ}, model=model([])) as url:
        assert await card_at(url) is reads


async def test_an_agent_does_not_say_it_before_it_knows_the_tools_of_a_server_that_is_slow_to_answer() -> (
    None
):
    async with faulty(WAITS, "initialize") as (_, server):
        environ = {"MCP_SERVERS": json.dumps({"slow": server}), "MCP_START_SECONDS": "0.1"}
        async with running_agent(Reader, environ=environ, model=model([])) as url:
            assert not await card_at(url)


async def test_a_tool_of_a_subclass_that_may_change_something_takes_the_word_back() -> None:
    class Ingesting(RagAgent):
        name = "ingesting"

        @agent_tool()
        async def ingest(self, source: str) -> str:
            """Ingest a document."""
            return source

    async with running_agent(Ingesting, environ=PLAIN, model=model([])) as url:
        assert not await card_at(url)


@pytest.mark.parametrize(
    ("agents", "reads"),
    [((Reader, TemplateAgent), True), ((Reader, Deployer), False)],
    ids=["all of them only read", "one of them may change something"],
)
async def test_a_supervisor_only_reads_if_all_do_that_it_delegates_to(
    agents: tuple[type[BaseLangGraphAgent], ...], reads: bool
) -> None:
    async with AsyncExitStack() as stack:
        urls = {
            each.name: await stack.enter_async_context(running_agent(each, model=model([])))
            for each in agents
        }
        middle = await stack.enter_async_context(supervising(urls, model([]), agent_class=Middle))
        assert await card_at(middle) is reads
        top = await stack.enter_async_context(supervising({"middle": middle}, model([])))
        assert await card_at(top) is reads


async def test_a_supervisor_does_not_speak_for_an_agent_whose_card_it_has_never_seen() -> None:
    async with running_agent(Reader, model=model([])) as url:
        listed = f"reader={url},nobody=http://127.0.0.1:9"
        settings = {"SUB_AGENTS": listed, "SUB_AGENT_WAIT_SECONDS": "0"}
        top = ScriptedModel(script=[calls(call("reader", request="Is 1.2 there?")), "It is there."])
        below = running_agent(PlatformEngineer, environ=settings, model=top)
        async with below as supervisor, connected(supervisor) as client:
            await ask(client, "Is 1.2 there?")  # waits until the agents were looked for
            assert not await card_at(supervisor)


CRASH = RuntimeError("the model's client failed")


@pytest.mark.parametrize(
    ("agent", "codes"),
    [(Reader, ("deadline_exceeded", "internal_error")), (Deployer, ("unknown_outcome", "unknown_outcome"))],
)
@pytest.mark.parametrize("end", [0, 1], ids=["takes too long", "crashes"])
async def test_a_supervisor_that_fails_after_it_asked_an_agent_has_an_unknown_outcome_unless_that_only_reads(
    agent: type[BaseLangGraphAgent], codes: tuple[str, str], end: int
) -> None:
    name = agent.name
    asked = asyncio.Event()
    late = ScriptedReply(text="Done.", started=asked, gate=asyncio.Event())
    crashes = ScriptedReply(started=asked, error=CRASH)
    below = ScriptedModel(script=[calls(call("look", version="1.2")), "It is there."])
    top = model([calls(call(name, request="Is 1.2 there?")), (late, crashes)[end]])
    async with (
        running_agent(agent, model=below) as url,
        supervising({name: url}, top, LIMITED) as supervisor,
        connected(supervisor) as client,
    ):
        asking = asyncio.create_task(ask(client, "Is 1.2 there?"))
        await asked.wait()
        if end == 0:
            pass_seconds(LIMIT)
        answer = await asking
    assert answer.metadata(ERROR_EXTENSION)[0]["code"] == codes[end]
    doubted = f"{name} may have done what was asked for" in answer.last_words
    assert doubted is (agent is Deployer)
    if agent is Reader and not end:
        assert "Nothing is lost: ask for a part of it, or try again." in answer.last_words


@pytest.mark.parametrize(
    ("agent", "code"), [(Reader, "internal_error"), (Deployer, "unknown_outcome")], ids=["reads", "changes"]
)
async def test_so_it_is_with_the_answer_to_a_question_of_the_agent(
    agent: type[BaseLangGraphAgent], code: str
) -> None:
    below = ScriptedModel(script=[calls(call("look_where")), "It is there."])
    top = model([calls(call(agent.name, request="Is 1.2 there?")), ScriptedReply(error=CRASH)])
    async with (
        running_agent(agent, model=below) as url,
        supervising({agent.name: url}, top) as supervisor,
        connected(supervisor) as client,
    ):
        asked = await ask(client, "Is 1.2 there?")
        named = {"task_id": asked.task_id, "context_id": asked.context_id, "nonce": asked.nonce}
        answer = await ask(client, "In Berlin", **named)
    assert answer.metadata(ERROR_EXTENSION)[0]["code"] == code


@pytest.mark.parametrize(
    ("extensions", "code", "retryable"),
    [((READ_ONLY_EXTENSION,), "sub_agent_unavailable", True), ((), "unknown_outcome", False)],
    ids=["says that it only reads", "says nothing"],
)
@pytest.mark.parametrize("loss", [page(504), cut], ids=["a gateway gives up", "a stream that is cut"])
async def test_a_lost_answer_of_a_foreign_agent_is_an_unknown_outcome_unless_its_card_says_that_it_only_reads(
    loss: Callable[[], Any], extensions: tuple[str, ...], code: str, retryable: bool
) -> None:
    top = model([calls(call("pay", request="What is bill 7?")), "I do not know."])
    agent = Payer(loss, extensions=extensions)
    async with (
        paying(agent) as pay,
        supervising({"pay": pay}, top) as url,
        connected(url) as client,
    ):
        answer = await ask(client, "What is bill 7?")
    error = answer.metadata(ERROR_EXTENSION)[0]
    assert (answer.state, error["code"], error["retryable"]) == ("failed", code, retryable)
    assert len(agent.paid) == 1, "the mark decides no more than the words of the failure"
