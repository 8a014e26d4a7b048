"""A turn with a change that may or may not have been made fails: in its state, its code and the exit code of the chat."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.cli.command import run
from tests.e2e.delegation.teams import results, supervising
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.questions.asked_by_tools import ask_user
from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.errors import OutcomeUnknown
from utils.testing.contract.client import Client, Event, Seen, client_of
from utils.testing.live_agent import running_agent
from utils.testing.live_server import running
from utils.testing.scripted_model import ScriptedModel, call, calls

UNKNOWN = "The service did not say whether it took the order."
SENT: list[str] = []


class Shop(BaseLangGraphAgent):
    """Orders things; what it calls may not answer."""

    name = "shop"
    description = "Orders things."
    service = ""
    patience = httpx.Timeout(60)

    @agent_tool()
    async def order(self, thing: str) -> str:
        """Order a thing."""
        SENT.append(thing)
        raise OutcomeUnknown(UNKNOWN)

    @agent_tool(read_only=True)
    async def stock(self) -> str:
        """Tell what is there."""
        return "Tea is there."

    @agent_tool()
    async def colour(self) -> str:
        """Ask for a colour."""
        return ask_user("Which colour?").text

    @agent_tool(approval="pay")
    async def pay(self) -> str:
        """Pay."""
        return await self._sent()

    async def _sent(self) -> str:
        async with httpx.AsyncClient(base_url=self.service, trust_env=False, timeout=self.patience) as http:
            (await http.post("/pay")).raise_for_status()
        return "Paid."

    @agent_tool()
    async def post(self) -> str:
        """Post a letter."""
        return await self._sent()

    @agent_tool(read_only=True)
    async def price(self) -> str:
        """Read a price."""
        return await self._sent()

    @agent_tool(approval="wait")
    async def wait(self) -> str:
        """Wait for ever."""
        await asyncio.Event().wait()
        return "Done."


def end_of(seen: Seen) -> tuple[str, str, str]:
    """State, code and sentence of the last event."""
    update = seen.events[-1]["statusUpdate"]
    error = update.get("metadata", {}).get(ERROR_EXTENSION, {})
    message = update["status"].get("message", {"parts": [{}]})
    return seen.states[-1], error.get("code", ""), message["parts"][0].get("text", "")


@asynccontextmanager
async def shop(*script: Any, agent: type[Shop] = Shop, **environ: str) -> AsyncIterator[Client]:
    model = ScriptedModel.of(*script)
    async with running_agent(agent, model=model, environ=environ) as url, client_of(url) as client:
        yield client


async def approved(client: Client, asked: Seen) -> Seen:
    """Say yes to the question of a turn."""
    question: Event = asked.events[-1]["statusUpdate"]["status"]["message"]
    where = {"contextId": asked.task["contextId"], "taskId": asked.task["id"]}
    return await client.ask("yes", metadata=question["metadata"], **where)


async def test_a_turn_whose_change_may_have_been_made_fails_and_keeps_its_answer() -> None:
    both = calls(call("order", "c1", thing="tea"), call("stock", "c2"))
    async with shop(both, "I looked: tea is there.") as client:
        seen = await client.ask("Order tea")
    assert end_of(seen) == ("failed", "unknown_outcome", UNKNOWN)
    assert seen.text == "I looked: tea is there."


async def test_a_question_in_between_does_not_make_it_a_success() -> None:
    script = calls(call("order", thing="tea")), calls(call("colour")), "It is green.", "Hello."
    async with shop(*script) as client:
        asked = await client.ask("Order tea in my colour")
        answered = await client.ask("green", contextId=asked.task["contextId"], taskId=asked.task["id"])
        later = await client.ask("Hello", contextId=asked.task["contextId"])
    assert asked.states[-1] == "input_required"
    assert end_of(answered) == ("failed", "unknown_outcome", UNKNOWN)
    assert later.states[-1] == "completed", "a request of its own made no change"


async def test_a_change_that_takes_too_long_may_have_been_made() -> None:
    async with shop(calls(call("wait")), "It did not end.", TOOL_TIMEOUT_SECONDS="1") as client:
        done = await approved(client, await client.ask("Wait"))
    state, code, told = end_of(done)
    assert (state, code) == ("failed", "unknown_outcome")
    assert told.startswith("The tool wait did not answer within 1 seconds: whether it made the change is")


async def _fails(_: Request) -> Response:
    return PlainTextResponse("", status_code=503)


async def _refuses(_: Request) -> Response:
    return PlainTextResponse("", status_code=409)


async def _is_silent(request: Request) -> Response:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    return PlainTextResponse("")


def patience_with(answer: object) -> httpx.Timeout:
    """How long a shop waits for a service: not long for what never comes, once it has sent its request."""
    return httpx.Timeout(60, read=0.5) if answer is _is_silent else Shop.patience


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (_fails, "unknown_outcome"),
        (_is_silent, "unknown_outcome"),
        (_refuses, ""),
        (None, "upstream_unavailable"),
    ],
    ids=["fails", "is silent", "refuses", "is away"],
)
async def test_whether_a_service_made_the_change_is_unknown_once_it_had_the_request(
    answer: Callable[[Request], Awaitable[Response]] | None, code: str
) -> None:
    routes = [Route("/pay", answer, methods=["POST"])] if answer else []
    async with running(Starlette(routes=routes)) as url:

        class Paying(Shop):
            service = url if answer else "http://127.0.0.1:9"
            patience = patience_with(answer)

        async with shop(calls(call("pay")), "So it is.", agent=Paying) as client:
            done = await approved(client, await client.ask("Pay"))
    assert (done.states[-1], end_of(done)[1]) == ("failed" if code else "completed", code)


@pytest.mark.parametrize(
    ("tool", "answer", "retryable"),
    [
        ("post", _fails, False),
        ("post", _is_silent, False),
        ("post", None, True),
        ("price", _fails, True),
        ("price", _is_silent, True),
    ],
)
async def test_only_what_reads_or_was_never_sent_is_called_safe_to_send_again(
    tool: str, answer: Callable[[Request], Awaitable[Response]] | None, retryable: bool
) -> None:
    routes = [Route("/pay", answer, methods=["POST"])] if answer else []
    async with running(Starlette(routes=routes)) as url:

        class Posting(Shop):
            service = url if answer else "http://127.0.0.1:9"
            patience = patience_with(answer)

        async with shop(calls(call(tool)), "So it is.", agent=Posting) as client:
            done = await client.ask("Post it")
    state, code, told = end_of(done)
    error = done.events[-1]["statusUpdate"]["metadata"][ERROR_EXTENSION]
    assert (state, code, error["retryable"]) == ("failed", "upstream_unavailable", retryable)
    assert ("unknown" in told) is not retryable


async def test_a_supervisor_fails_with_its_sub_agent_and_knows_what_that_found_out(tmp_path: Path) -> None:
    SENT.clear()
    inner = ScriptedModel.of(calls(call("order", thing="tea")), "I looked: nothing was ordered yet.")
    outer = ScriptedModel.of(calls(call("shop", request="Order tea")), "The shop is not sure.")
    async with (
        running_agent(Shop, model=inner) as below,
        supervising({"shop": below}, outer, agent_class=PlatformEngineer) as url,
    ):
        asked = await run("chat", "--url", url, "--ask", "Order tea", home=tmp_path)
    assert asked.code == 4
    assert asked.out.strip() == "The shop is not sure."
    assert UNKNOWN in asked.err
    assert "nothing was ordered yet" in results(outer)[0]
    assert SENT == ["tea"]
