"""Ctrl-C on a task that has ended at the agent although its stream has not told so."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from multi_agents.cli.chat.drive import TurnResult, drive
from multi_agents.cli.chat.interrupts import Interrupts
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.peer.connection import connect
from multi_agents.cli.view.sinks import SilentSink
from tests.e2e.delegation.hostile import COMPLETED, TASK, Body, Hostile, hostile
from utils.a2a_common.client.stream.follow import follow_message
from utils.a2a_common.client.stream.message import user_message

NOT_CANCELABLE = {"code": -32002, "message": "Task cannot be canceled"}
ANSWER = {"artifacts": [{"artifactId": "a", "parts": [{"text": "It is first."}]}]}


class Silent(Hostile):
    """An agent whose task cannot be canceled; `found` is what it tells of it."""

    found: Mapping[str, Any] = TASK

    async def rpc(self, request: Request) -> Response:
        asked = await request.json()
        match asked["method"]:
            case "CancelTask":
                return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "error": NOT_CANCELABLE})
            case "GetTask":
                return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": self.found})
        return await super().rpc(request)


class Ended(Silent):
    """The task is done."""

    found = COMPLETED | ANSWER


async def _interrupted(made: type[Silent]) -> TurnResult:
    """A turn at the agent with a Ctrl-C once its task has begun."""
    begun = asyncio.Event()

    async def working(agent: Hostile) -> Body:
        yield agent.event({"task": TASK})
        begun.set()
        await asyncio.Event().wait()

    interrupts = Interrupts()
    async with asyncio.timeout(60), hostile(working, made=made) as agent, connect(agent.url) as peer:
        events = follow_message(peer.connection, user_message("Dig", context_id="c1"))
        turn = asyncio.create_task(drive(peer, events, SilentSink(), interrupts=interrupts))
        await begun.wait()
        interrupts.press()
        return await turn


async def test_a_task_that_had_ended_is_shown_as_it_ended_and_not_as_stopped(capsys) -> None:
    result = await _interrupted(Ended)
    assert (result.view.answer, result.exit_code) == ("It is first.", ExitCode.OK)
    assert not result.view.stopped
    assert "cannot be canceled" not in capsys.readouterr().err


async def test_why_a_task_that_goes_on_was_not_canceled_is_said(capsys) -> None:
    result = await _interrupted(Silent)
    assert (result.view.stopped, result.exit_code) == (True, ExitCode.INTERRUPTED)
    assert "cannot be canceled" in capsys.readouterr().err
