"""The id of a task may be typed as far as it tells it from the others."""

from __future__ import annotations

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from multi_agents.cli.commands.tasks import whole_id
from multi_agents.cli.errors import UsageError
from multi_agents.cli.peer.connection import connect
from tests.e2e.delegation.hostile import COMPLETED, Body, Hostile, hostile

IDS = ("abc1", "abc2", "abc", "de5")


class Lists(Hostile):
    """An agent with these tasks."""

    async def rpc(self, request: Request) -> Response:
        asked = await request.json()
        tasks = [COMPLETED | {"id": each} for each in IDS]
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": {"tasks": tasks}})


class ListsNone(Hostile):
    """An agent that lists no tasks."""

    async def rpc(self, request: Request) -> Response:
        error = {"code": -32601, "message": "Method not found"}
        return JSONResponse({"jsonrpc": "2.0", "id": (await request.json())["id"], "error": error})


async def unused(_agent: Hostile) -> Body:
    raise AssertionError
    yield b""


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("d", "de5"), ("abc1", "abc1"), ("abc", "abc"), ("none", "none"), ("", "")],
    ids=["its beginning", "all of it", "one that others begin with", "none", "nothing"],
)
async def test_a_beginning_that_only_one_task_has_means_that_task(typed: str, meant: str) -> None:
    async with hostile(unused, made=Lists) as agent, connect(agent.url) as peer:
        assert await whole_id(peer, typed) == meant


async def test_a_beginning_that_several_tasks_have_is_refused() -> None:
    async with hostile(unused, made=Lists) as agent, connect(agent.url) as peer:
        with pytest.raises(UsageError, match="3 tasks begin with ab: type more of the id"):
            await whole_id(peer, "ab")


async def test_at_an_agent_that_lists_no_tasks_an_id_is_taken_as_it_is() -> None:
    async with hostile(unused, made=ListsNone) as agent, connect(agent.url) as peer:
        assert await whole_id(peer, "abc") == "abc"
