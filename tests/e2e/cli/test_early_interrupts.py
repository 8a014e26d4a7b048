"""Ctrl-C in the first moments of a turn: nothing goes on at the agent, and the chat stays."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from multi_agents.cli.chat.interrupts import InterruptWatch
from tests.e2e.cli.command import ROOT, environment
from tests.e2e.cli.scripted_agent import ScriptedAgent, Turn, serve
from tests.e2e.cli.terminal import Terminal, fresh_terminal


class SlowToName(ScriptedAgent):
    """Has the request and names its task only when it is told to."""

    def __init__(self) -> None:
        super().__init__(self.run)
        self.name_it = asyncio.Event()

    async def run(self, turn: Turn) -> None:
        if turn.text == "hello":
            await turn.task()
            await turn.chunk("You said hello.", append=False)
            await turn.status("completed")
            return
        await self.name_it.wait()
        await turn.task()
        await turn.status("working")
        await turn.activity(kind="tool_started", call_id="1", tool="slow_tool", arguments="")
        await asyncio.Event().wait()


INTERRUPTED_WHILE_IMPORTING = """
import os, runpy, signal, sys

class CtrlC:
    def find_spec(self, name, *_):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)

sys.modules.pop("typer", None)
sys.meta_path.insert(0, CtrlC())
runpy.run_module("multi_agents.cli", run_name="__main__")
"""


async def test_ctrl_c_while_the_modules_are_imported_ends_the_command_without_a_traceback(tmp_path):
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", INTERRUPTED_WHILE_IMPORTING),
        cwd=ROOT,
        env=environment(tmp_path),
        stderr=asyncio.subprocess.PIPE,
    )
    _, err = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, err) == (-signal.SIGINT, b"")


async def _goes_on(screen: Terminal, at: int) -> None:
    await screen.asks()
    screen.type("hello\r")
    await screen.shows("You said hello.", since=at)
    await screen.asks()
    screen.type("/quit\r")
    assert await screen.ends() == 0


async def test_a_task_that_was_not_named_yet_is_canceled_as_soon_as_it_is(tmp_path):
    agent = SlowToName()
    async with serve(agent) as url, fresh_terminal("chat", "--url", url, home=tmp_path) as screen:
        await screen.asks()
        screen.type("slow\r")
        await asyncio.wait_for(agent.started.wait(), 60)
        at = await screen.shows("thinking")
        screen.type("\x03")
        agent.name_it.set()
        at = await screen.shows("Canceled.", since=at)
        await _goes_on(screen, at)
    assert agent.canceled == [agent.seen[0][1]]


async def test_what_still_worked_when_it_was_canceled_is_not_drawn_as_working(tmp_path):
    agent = SlowToName()
    agent.name_it.set()
    async with serve(agent) as url, fresh_terminal("chat", "--url", url, home=tmp_path) as screen:
        await screen.asks()
        screen.type("slow\r")
        at = await screen.shows("slow_tool")
        screen.type("\x03")
        await screen.shows("Canceled.", since=at)
        assert "■ slow_tool" in screen.text[at:]


async def test_a_sigint_between_two_turns_does_not_end_the_chat(tmp_path):
    agent = SlowToName()
    async with serve(agent) as url, fresh_terminal("chat", "--url", url, home=tmp_path) as screen:
        await screen.asks()
        os.kill(screen.process.pid, signal.SIGINT)
        at = await screen.shows("Ctrl-C again")
        await _goes_on(screen, at)


def test_an_interrupt_after_enter_belongs_to_the_turn_that_is_about_to_begin():
    watch = InterruptWatch()
    with watch.offered_to(lambda: False):  # the prompt has its line and is no longer interested
        watch.press()
    assert watch.current.first.is_set()
    with watch.offered_to(lambda: True):
        watch.begin()
        watch.press()
    assert not watch.current.first.is_set()


async def test_a_turn_that_was_stopped_before_it_began_sends_nothing(tmp_path):
    from multi_agents.cli.chat.downloads import Downloads
    from multi_agents.cli.chat.session import Chat
    from multi_agents.cli.peer.connection import connect

    agent = SlowToName()
    async with serve(agent) as url, connect(url) as peer:
        chat = Chat(peer, "c1", as_json=False, quiet=True, downloads=Downloads(tmp_path))
        chat.watch.press()
        assert await chat.turn("hello")
        assert agent.seen == []
        chat.watch.begin()
        assert await chat.turn("hello")
        assert [text for text, _, _ in agent.seen] == ["hello"]
