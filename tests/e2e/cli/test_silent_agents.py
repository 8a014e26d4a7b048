"""An agent that has the request and says nothing: the person is told how long, and Ctrl-C ends it."""

from __future__ import annotations

import asyncio
import re

import pytest

from multi_agents.cli.chat.drive import TurnResult, drive
from multi_agents.cli.chat.interrupts import Interrupts
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.peer.connection import connect
from multi_agents.cli.view.render import live_view
from multi_agents.cli.view.sinks import LineSink
from multi_agents.cli.view.state import TurnView
from tests.e2e.delegation.hostile import TASK, Body, Hostile, hostile
from utils.a2a_common.client.stream.follow import follow_message
from utils.a2a_common.client.stream.message import user_message

SOON = 0.05
"""Seconds of silence until these tests are told of it."""


class Screen(LineSink):
    """Lines as in a log; `told` is set when one was about silence."""

    def __init__(self) -> None:
        super().__init__()
        self.told = asyncio.Event()

    def silent(self, seconds: float, view: TurnView) -> None:
        super().silent(seconds, view)
        self.told.set()


async def mute(_agent: Hostile) -> Body:
    await asyncio.Event().wait()
    yield b""


async def only_named(agent: Hostile) -> Body:
    yield agent.event({"task": TASK})
    await asyncio.Event().wait()


class DeafToCancel(Hostile):
    """An agent that never answers a cancel."""

    async def rpc(self, request):
        if (await request.json())["method"] == "CancelTask":
            self.canceled.set()
            await asyncio.Event().wait()
        return await super().rpc(request)


async def interrupted(
    body, capsys: pytest.CaptureFixture[str], made: type[Hostile]
) -> tuple[TurnResult, str]:
    """A turn that is stopped once the person was told of the silence, and its lines; a second Ctrl-C ends the wait."""
    interrupts, screen, shown = Interrupts(), Screen(), ""
    async with asyncio.timeout(60), hostile(body, made=made) as agent, connect(agent.url) as peer:
        events = follow_message(peer.connection, user_message("Dig", context_id="c1"))
        turn = asyncio.create_task(drive(peer, events, screen, interrupts=interrupts, silent_after=SOON))
        await screen.told.wait()
        interrupts.press()
        while "Ctrl-C again ends the wait" not in shown:
            shown += capsys.readouterr().err
            await asyncio.sleep(SOON)
        interrupts.press()
        return await turn, shown + capsys.readouterr().err


async def test_of_an_agent_that_never_answered_it_is_told_how_long_and_what_ctrl_c_waits_for(capsys):
    result, shown = await interrupted(mute, capsys, Hostile)
    assert re.search(r"the agent has not answered for \d+ s; Ctrl-C stops waiting", shown)
    assert "The agent has not named the task yet, which it needs to be canceled: waiting up to 12 s" in shown
    assert (result.exit_code, result.quit) == (ExitCode.INTERRUPTED, True)


async def test_of_an_agent_that_only_took_the_task_it_is_told_that_a_cancel_is_under_way(capsys):
    result, shown = await interrupted(only_named, capsys, DeafToCancel)
    assert re.search(r"nothing new from the agent for \d+ s; Ctrl-C cancels the task", shown)
    assert "The agent was asked to cancel the task: waiting up to 10 s" in shown
    assert (result.exit_code, result.quit) == (ExitCode.INTERRUPTED, True)


def test_a_silence_is_told_in_lines_at_first_and_each_time_that_it_has_doubled(capsys):
    sink, view = LineSink(), TurnView()
    for seconds in range(10, 45):
        sink.silent(seconds, view)
    told = re.findall(r"for (\d+) s", capsys.readouterr().err)
    assert told == ["10", "20", "40"]


def test_on_a_terminal_the_silence_takes_the_place_of_thinking(capsys):
    from rich.console import Console

    for silence, shown in (("", "thinking"), ("nothing for 12 s", "nothing for 12 s")):
        Console(width=80, force_terminal=False).print(live_view(TurnView(), silence))
        assert capsys.readouterr().out.split(maxsplit=1)[1].strip() == shown
