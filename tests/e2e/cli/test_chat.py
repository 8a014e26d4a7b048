from __future__ import annotations

import asyncio
import json

import pytest
from a2a.server.agent_execution import RequestContext
from a2a.server.events import EventQueue

from tests.e2e.cli.command import run, start
from tests.e2e.cli.scripted_agent import ScriptedAgent, Turn, serve
from tests.e2e.cli.terminal import terminal

NEXT = "urn:platform-engineer:ext:next:v1"
CONTEXT = "urn:platform-engineer:ext:context:v1"


async def echoing(turn: Turn) -> None:
    await turn.task()
    if turn.text == "which?":
        await turn.status("input_required", "Which repository?")
        return
    if turn.text == "wait":
        await turn.status("working")
        await turn.activity(kind="tool_started", call_id="1", tool="slow_tool", arguments="")
        await asyncio.Event().wait()
    if turn.text == "fail":
        await turn.status("failed", "It did not work.")
        return
    await turn.chunk(f"You said **{turn.text}**.", append=False)
    await turn.status("completed")


async def test_lines_of_a_pipe_are_turns_of_one_conversation(tmp_path):
    agent = ScriptedAgent(echoing)
    async with serve(agent) as url:
        done = await run("chat", "--url", url, home=tmp_path, typed="one\n\ntwo\n/new\nthree\n")
    assert done.out == "You said **one**.\nYou said **two**.\nYou said **three**.\n"
    contexts = [context for _, _, context in agent.seen]
    assert contexts[0] == contexts[1] != contexts[2]
    assert done.code == 0


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])  # which one it is depends on the locale
async def test_a_line_that_is_no_text_is_refused_and_the_next_ones_are_answered(tmp_path, errors):
    agent = ScriptedAgent(echoing)
    async with serve(agent) as url:
        process = await start("chat", "--url", url, "-q", home=tmp_path, PYTHONIOENCODING=f"utf-8:{errors}")
        async with asyncio.timeout(60):
            out, told = await process.communicate(b"one\n\xff\ntwo\r\n\xc3\xa4\n")
    assert out.decode() == "You said **one**.\nYou said **two**.\nYou said **ä**.\n"
    assert told.decode() == "Error [usage]: The line is not text in UTF-8. It was not sent.\n"
    assert process.returncode == 0
    assert len(agent.seen) == 3


@pytest.mark.parametrize(
    "arguments", [("chat", "--ask"), ("chat", "--ask", "hi", "--context"), ("tasks", "show")]
)
async def test_an_argument_that_is_no_text_is_refused(tmp_path, arguments):
    agent = ScriptedAgent(echoing)
    async with serve(agent) as url:
        done = await run(*arguments, "bad \udcff", "--url", url, home=tmp_path)
    assert (done.code, done.out, agent.seen) == (2, "", [])
    assert done.err.startswith("Error [usage]: ")
    assert "not text in UTF-8" in done.err


async def test_the_reply_to_a_question_goes_to_the_same_task(tmp_path):
    agent = ScriptedAgent(echoing)
    async with serve(agent) as url:
        done = await run("chat", "--url", url, home=tmp_path, typed="which?\nthat one\nnext\n")
    tasks = [task for _, task, _ in agent.seen]
    assert tasks[0] == tasks[1] != tasks[2]
    assert "Which repository?" in done.err
    assert done.out == "You said **that one**.\nYou said **next**.\n"


async def test_what_is_suggested_below_an_answer_is_asked_with_its_number(tmp_path):
    async def suggesting(turn: Turn) -> None:
        await turn.task()
        await turn.chunk(f"You said {turn.text}.", append=False)
        told = (
            {"requests": ["List open issues", "Show the\nreadme", "Third", "Fourth"]}
            if turn.text == "one"
            else None
        )
        await turn.status("completed", metadata={NEXT: told} if told else None)

    async with serve(ScriptedAgent(suggesting)) as url:
        done = await run("chat", "--url", url, home=tmp_path, typed="one\n/4\n/2\n/1\n")
    assert "/1  List open issues\n/2  Show the readme\n/3  Third\n" in done.err
    assert "Fourth" not in done.err
    assert "There is no suggestion 4." in done.err
    assert done.out == "You said one.\nYou said Show the\nreadme.\n"
    assert "There is no suggestion 1." in done.err


async def test_cancel_drops_the_task_that_waits(tmp_path):
    agent = ScriptedAgent(echoing)
    async with serve(agent) as url:
        done = await run("chat", "--url", url, home=tmp_path, typed="which?\n/cancel\nnext\n")
    assert agent.canceled == [agent.seen[0][1]]
    assert agent.seen[1][1] != agent.seen[0][1]
    assert done.out == "You said **next**.\n"


async def test_from_a_pipe_the_last_turn_gives_the_exit_code(tmp_path):
    async with serve(ScriptedAgent(echoing)) as url:
        done = await run("chat", "--url", url, home=tmp_path, typed="one\nfail\n")
    assert done.code == 4


async def test_json_lines_of_a_chat_carry_an_end_per_turn(tmp_path):
    async with serve(ScriptedAgent(echoing)) as url:
        done = await run("chat", "--url", url, "--json", home=tmp_path, typed="one\nwhich?\n")
    ends = [event for event in map(json.loads, done.out.splitlines()) if event["event"] == "end"]
    assert [end["state"] for end in ends] == ["completed", "input-required"]
    assert ends[1]["question"] == "Which repository?"


async def test_at_a_terminal_ctrl_c_cancels_the_task_and_the_chat_goes_on(tmp_path):
    agent = ScriptedAgent(echoing)
    async with serve(agent) as url, terminal("chat", "--url", url, home=tmp_path) as screen:
        await screen.asks()
        screen.type("wait\r")
        at = await screen.shows("slow_tool")
        screen.type("\x03")
        await screen.shows("Canceled.", since=at)
        await screen.asks()
        screen.type("hello\r")
        await screen.shows("You said hello.", since=at)
        await screen.asks()
        screen.type("/quit\r")
        assert await screen.ends() == 0
    assert agent.canceled == [agent.seen[0][1]]


class DeafAgent(ScriptedAgent):
    """Hears a cancel and does not act on it before it is released."""

    def __init__(self) -> None:
        super().__init__(echoing)
        self.heard, self.release = asyncio.Event(), asyncio.Event()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.heard.set()
        await self.release.wait()
        await super().cancel(context, event_queue)


@pytest.mark.long
async def test_at_a_terminal_the_second_ctrl_c_quits_though_the_agent_does_not_stop(tmp_path):
    agent = DeafAgent()
    async with serve(agent) as url, terminal("chat", "--url", url, home=tmp_path) as screen:
        await screen.asks()
        screen.type("wait\r")
        await screen.shows("slow_tool")
        screen.type("\x03")
        await asyncio.wait_for(agent.heard.wait(), 60)
        screen.type("\x03")
        assert await screen.ends() == 130
        agent.release.set()


async def test_history_is_kept_for_the_arrow_keys_of_the_next_chat(tmp_path):
    async with serve(ScriptedAgent(echoing)) as url:
        async with terminal("chat", "--url", url, home=tmp_path) as screen:
            await screen.asks()
            screen.type("remember me\r")
            await screen.shows("You said remember me.")
            await screen.asks()
            screen.type("\x04")
            assert await screen.ends() == 0
        async with terminal("chat", "--url", url, home=tmp_path) as screen:
            await screen.asks()
            screen.type("\x1b[A\r")
            await screen.shows("You said remember me.")
    assert (tmp_path / "chat_history").stat().st_mode & 0o077 == 0


async def measured(turn: Turn) -> None:
    await turn.task()
    await turn.chunk(f"You said {turn.text}.", append=False)
    held = {"by_kind": {"system": 300, "tail": 700}, "limit": 10_000, "window": 16_000}
    await turn.status("completed", metadata={CONTEXT: held})


async def test_context_shows_what_the_last_request_held_and_clear_begins_anew(tmp_path):
    agent = ScriptedAgent(measured)
    async with serve(agent) as url:
        typed = "/context\none\n/context\n/clear\n/context\ntwo\n"
        done = await run("chat", "--url", url, home=tmp_path, typed=typed)
    assert done.err.count("Nothing is known yet") == 2
    assert "1,000 of 10,000 tokens (10 %), window 16,000" in done.err
    assert [text for text, _, _ in agent.seen] == ["one", "Forget everything.", "two"]
    contexts = [context for _, _, context in agent.seen]
    assert contexts[0] == contexts[1] != contexts[2]
