"""An agent that has the request and says nothing: the person is told how long, and Ctrl-C ends it."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from multi_agents.cli.chat.drive import TurnResult, drive
from multi_agents.cli.chat.interrupts import Interrupts
from multi_agents.cli.errors import AgentSilent
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.peer.connection import connect
from multi_agents.cli.view.render import live_view
from multi_agents.cli.view.sinks import LineSink
from multi_agents.cli.view.state import TurnView
from tests.e2e.cli.command import Finished, finish, run, start_leading
from tests.e2e.delegation.hostile import COMPLETED, TASK, Body, Hostile, hostile
from tests.support.passing_time import pass_seconds
from utils.a2a_common.client.stream.events import PeerEvent
from utils.a2a_common.client.stream.follow import follow_message
from utils.a2a_common.client.stream.message import user_message

LIMIT = 2
"""Seconds of silence that the real command is told to bear."""

SOON = 0.05
"""Seconds of silence until these tests are told of it."""

HASTY = (
    "-c",
    f"""
from multi_agents.cli import main
from multi_agents.cli.commands import chat

chat.PATIENCE_SECONDS = {LIMIT}
main.main()
""",
)
"""The command line whose limit without an option is short."""


class Screen(LineSink):
    """Lines as in a log; `told` is set when one was about silence."""

    def __init__(self) -> None:
        super().__init__()
        self.told = asyncio.Event()

    def silent(self, seconds: float, view: TurnView) -> None:
        super().silent(seconds, view)
        self.told.set()


class BrokenScreen(LineSink):
    """It fails where it should tell how long the agent says nothing."""

    def silent(self, seconds: float, view: TurnView) -> None:
        if seconds:
            raise RuntimeError("it cannot be shown")


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


async def given_up(body, home: Path, *options: str, typed: str = "") -> tuple[Finished, Hostile]:
    async with hostile(body) as agent:
        asked = ("chat", "--url", agent.url, "--timeout", str(LIMIT), *options)
        return await run(*asked, home=home, typed=typed), agent


async def test_one_question_to_an_agent_that_only_took_the_task_ends_with_the_command_that_shows_it(tmp_path):
    done, agent = await given_up(only_named, tmp_path, "--ask", "Dig")
    assert done.code == ExitCode.TASK_FAILED
    assert f"Error [agent_silent]: Nothing new came from the agent for {LIMIT} s. Task t1 " in done.err
    assert f"`platform-engineer tasks show --url {agent.url} t1` shows" in done.err
    assert "CancelTask" not in agent.asked


async def test_one_question_to_an_agent_that_never_answered_ends_with_the_list_of_tasks(tmp_path):
    done, agent = await given_up(mute, tmp_path, "--ask", "Dig", "--json")
    assert done.code == ExitCode.TASK_FAILED
    assert json.loads(done.out)["code"] == "agent_silent"
    assert f"`platform-engineer tasks list --url {agent.url}` shows it" in done.err


async def test_a_line_from_a_pipe_ends_with_the_limit_too(tmp_path):
    done, _ = await given_up(only_named, tmp_path, typed="Dig\n")
    assert (done.code, done.err.count("[agent_silent]")) == (ExitCode.TASK_FAILED, 1)


class Listener(LineSink):
    """`said` holds what the agent was heard to say."""

    def __init__(self) -> None:
        super().__init__()
        self.said = asyncio.Queue[str]()

    def show(self, event: PeerEvent, view: TurnView) -> None:
        super().show(event, view)
        self.said.put_nowait(view.task.status_text)


async def test_an_agent_that_reports_now_and_then_is_waited_for_as_long_as_its_task_takes():
    screen = Listener()

    async def beating(agent: Hostile) -> Body:
        yield agent.event({"task": TASK})
        for step in ("One.", "Two.", "Three."):
            message = {"messageId": step, "role": "ROLE_AGENT", "parts": [{"text": step}]}
            status = {"state": "TASK_STATE_WORKING", "message": message}
            yield agent.event({"statusUpdate": {"taskId": "t1", "contextId": "c1", "status": status}})
            while await screen.said.get() != step:
                pass
            pass_seconds(40)
        yield agent.event({"task": COMPLETED})

    async with hostile(beating) as agent, connect(agent.url) as peer:
        events = follow_message(peer.connection, user_message("Dig", context_id="c1"))
        result = await drive(peer, events, screen, interrupts=Interrupts(), patience=60)
    assert (result.exit_code, result.view.task.state) == (ExitCode.OK, "completed")


@pytest.mark.parametrize(("options", "typed"), [((), "Dig\n"), (("--ask", "Dig"), "")])
async def test_without_a_person_who_watches_there_is_a_limit_without_an_option(tmp_path, options, typed):
    async with hostile(only_named) as agent:
        asked = ("chat", "--url", agent.url, *options)
        done = await finish(await start_leading(HASTY, *asked, home=tmp_path), typed)
    assert (done.code, done.err.count("[agent_silent]")) == (ExitCode.TASK_FAILED, 1)


@pytest.mark.parametrize("patience", [None, 600.0])
async def test_a_silence_that_cannot_be_shown_is_not_taken_for_one_that_was_too_long(patience):
    async with asyncio.timeout(60), hostile(only_named) as agent, connect(agent.url) as peer:
        events = follow_message(peer.connection, user_message("Dig", context_id="c1"))
        with pytest.raises(RuntimeError, match="it cannot be shown"):
            await drive(
                peer, events, BrokenScreen(), interrupts=Interrupts(), silent_after=SOON, patience=patience
            )


def test_a_task_that_may_still_run_is_not_worth_another_try_by_a_program():
    assert not AgentSilent("It may still run.").retryable


def test_a_silence_that_has_a_limit_is_told_with_it(capsys):
    LineSink().silent(10, TurnView(patience=600))
    assert capsys.readouterr().err == "the agent has not answered for 10 of 600 s; Ctrl-C stops waiting\n"


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
