"""An MCP server that refuses is told as it refused: in a call to the model, at the start to the operator."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
import structlog.testing
from mcp import ClientSession

from tests.e2e.mcp.conftest import Plain
from tests.e2e.mcp.faulty import PAGE, faulty
from tests.ports import free_port
from utils.events import Completed
from utils.mcp.connection import Connection
from utils.messages.results import ToolProblem, parse_result
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

CHANGE = "Whoever runs this agent can change them."
REFUSALS = {
    401: f"does not take the credentials that it was given (status 401). {CHANGE}",
    403: f"does not allow this with the credentials that it was given (status 403). {CHANGE}",
    404: "refused the request with status 404.",
    409: "refused the request with status 409.",
}


async def told(talk: Any, status: int, tool: str = "read", **headers: str) -> ToolProblem:
    """What the model reads of a call beside one that succeeds; the session goes on after it."""
    async with faulty(status, **headers) as (server, settings):
        both = calls(call("own_tool"), call(f"h_{tool}"))
        chat = await talk(
            {"h": {**settings, "allow": ["*"]}}, both, "Sorry.", calls(call(f"h_{tool}")), "Done."
        )
        assert isinstance((await chat.ask())[-1], Completed)
        problem = parse_result(chat.last_result().text)
        server.fault = None
        assert isinstance((await chat.ask("Again"))[-1], Completed)
        assert chat.last_result().text == "Done."
        await chat.agent.close()
    assert isinstance(problem, ToolProblem)
    return problem


@pytest.mark.parametrize("tool", ["read", "write"])
@pytest.mark.parametrize("status", REFUSALS)
async def test_a_refused_call_is_told_with_its_status_and_was_not_carried_out(talk, status, tool):
    problem = await told(talk, status, tool)
    assert problem.message == f"The MCP server h {REFUSALS[status]}"
    assert (problem.error, problem.retryable, problem.note) == ("upstream_refused", False, None)


@pytest.mark.parametrize("tool", ["read", "write"])
@pytest.mark.parametrize(
    ("headers", "when"),
    [
        ({"retry_after": "30"}, "in 30 seconds"),
        ({}, "later"),
        ({"retry_after": "soon"}, "later"),
        ({"retry_after": "-5"}, "later"),
    ],
)
async def test_too_many_requests_may_be_tried_again_when_the_server_says_so(talk, tool, headers, when):
    problem = await told(talk, 429, tool, **headers)
    said = f"The MCP server h gets too many requests (status 429). It takes this one {when}."
    assert (problem.error, problem.message, problem.retryable) == ("upstream_unavailable", said, True)


async def test_a_refused_call_takes_nothing_from_another_of_the_same_server(talk):
    async with faulty(401) as (server, settings):
        server.only = {"write"}
        both = calls(call("h_read", "c1"), call("h_write", "c2"))
        chat = await talk({"h": {**settings, "allow": ["*"]}}, both, "Half done.")
        assert isinstance((await chat.ask())[-1], Completed)
        results = {each.tool_call_id: each.text for each in chat.model.requests[-1].messages[-2:]}
        await chat.agent.close()
    assert results["c1"] == "Done."
    assert "status 401" in results["c2"]


STARTS = {
    401: "it does not take the credentials that it was given (status 401)",
    403: "it does not allow this with the credentials that it was given (status 403)",
    404: "it refused the request with status 404",
    503: "it failed with status 503",
    PAGE: "it answered with text/html, which is not MCP",
}


async def detail_of(environ: dict[str, str]) -> str:
    """What readiness says of an agent with MCP servers, once it is known."""
    async with (
        running_agent(Plain, environ=environ, model=ScriptedModel.of()) as url,
        httpx.AsyncClient(trust_env=False) as http,
    ):
        ready: dict[str, str] = (await http.get(f"{url}/readyz")).json()
    assert ready["status"] == "ready"
    return ready["detail"]


@pytest.mark.parametrize("method", ["initialize", "tools/list"])
@pytest.mark.parametrize("fault", STARTS)
async def test_a_server_that_refuses_at_the_start_is_named_with_its_reason(fault, method):
    async with faulty(fault, method) as (_, settings), asyncio.timeout(20):
        secret = {"Authorization": "Bearer box-secret"}
        environ = {
            "MCP_SERVERS": json.dumps({"h": {**settings, "headers": secret}}),
            "MCP_START_SECONDS": "15",
        }
        with structlog.testing.capture_logs() as logged:
            detail = await detail_of(environ)
    assert detail == f"the MCP server h is not connected: {STARTS[fault]}"
    lines = [line for line in logged if line["event"] == "mcp.unreachable"]
    assert {(line["server"], line["reason"]) for line in lines} == {("h", STARTS[fault])}
    assert "secret" not in str(logged)


async def test_a_server_that_is_away_at_the_start_is_named_as_well():
    away = {"h": {"url": f"http://127.0.0.1:{free_port()}/mcp"}, "bad": {"command": "/nonexistent/program"}}
    environ = {"MCP_SERVERS": json.dumps(away), "MCP_START_SECONDS": "15"}
    assert await detail_of(environ) == (
        "the MCP server h is not connected: it cannot be reached; "
        "the MCP server bad is not connected: FileNotFoundError"
    )


async def test_a_server_that_takes_the_credentials_again_joins_and_is_no_longer_named(rebuilt, talk):
    async with faulty(401, "initialize") as (server, settings), asyncio.timeout(60):
        chat = await talk({"h": settings}, calls(call("h_read")), "Done.")
        assert "(status 401)" in chat.agent.mcp_note
        server.fault = None
        await rebuilt.wait()
        assert chat.agent.mcp_note == ""
        await chat.ask()
        assert chat.last_result().text == "Done."
        await chat.agent.close()


@pytest.fixture
def looked(monkeypatch) -> asyncio.Queue[None]:
    """Gets an entry each time that an agent has seen whether a server is there."""
    looks, look = asyncio.Queue[None](), Connection._look

    async def looking(connection: Connection, session: ClientSession) -> None:
        await look(connection, session)
        looks.put_nowait(None)

    monkeypatch.setattr(Connection, "_look", looking)
    return looks


@pytest.mark.parametrize("status", [429, 503])
async def test_a_connected_server_that_takes_nothing_is_named_until_it_takes_something_again(
    talk, looked, status
):
    async with faulty(None, "tools/call", "ping") as (server, settings), asyncio.timeout(60):
        chat = await talk({"h": settings}, calls(call("h_read")), "Sorry.", calls(call("h_read")), "Done.")
        assert chat.agent.mcp_note == ""
        server.fault = status
        with structlog.testing.capture_logs() as logged:
            await chat.ask()
            for _ in range(3):
                await looked.get()
        named = chat.agent.mcp_note
        server.fault = None
        await chat.ask("Again")
        assert chat.last_result().text == "Done."
        assert chat.agent.mcp_note == ""
        await chat.agent.close()
    says = {429: "gets too many requests (status 429)", 503: "failed with status 503"}[status]
    assert named == f"the MCP server h takes no requests: it {says}"
    assert [line["reason"] for line in logged if line["event"] == "mcp.refusing"] == [f"it {says}"]


async def test_a_connected_server_is_named_no_longer_once_it_answers_a_ping(talk, looked):
    async with faulty(None, "tools/call", "ping") as (server, settings), asyncio.timeout(60):
        chat = await talk({"h": settings}, calls(call("h_read")), "Sorry.")
        server.fault = 503
        await chat.ask()
        await looked.get()
        assert chat.agent.mcp_note
        server.fault = None
        while chat.agent.mcp_note:
            await looked.get()
        await chat.agent.close()


@pytest.mark.parametrize("status", [403, 404, 405, 501])
async def test_a_server_that_refuses_pings_alone_is_not_named(talk, looked, status):
    async with faulty(None, "ping", "tools/call") as (server, settings), asyncio.timeout(60):
        chat = await talk({"h": settings}, calls(call("h_read")), "Sorry.")
        server.fault = status
        await chat.ask()
        await looked.get()
        assert chat.agent.mcp_note == ""
        await chat.agent.close()
