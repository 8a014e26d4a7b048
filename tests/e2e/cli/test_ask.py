from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

from tests.e2e.cli.command import Finished, finish, run, start
from tests.e2e.cli.scripted_agent import ERROR, USAGE, ScriptedAgent, Turn, serve


async def ask(script, home: Path, *extra: str, text: str = "hello", streaming: bool = True) -> Finished:
    async with serve(ScriptedAgent(script), streaming=streaming) as url:
        return await run("chat", "--url", url, "--ask", text, *extra, home=home)


async def answering(turn: Turn) -> None:
    await turn.task()
    await turn.status("working")
    step = {"id": "1", "title": "Look it up", "agent": "rag", "status": "working", "order": 1}
    await turn.plan(step)
    await turn.activity(kind="delegation_started", call_id="c1", agent="rag", request="look")
    inner = {"kind": "tool_started", "agent": "rag", "call_id": "t1", "tool": "search", "arguments": "x"}
    await turn.activity(
        kind="delegation_progress",
        call_id="c1",
        agent="rag",
        remote_task_id="r",
        state="working",
        activity=inner,
    )
    await turn.activity(
        kind="delegation_finished",
        call_id="c1",
        agent="rag",
        remote_task_id="r",
        state="completed",
        seconds=1.5,
    )
    await turn.chunk("The **answer** ", append=False)
    await turn.chunk("is 42.", append=True, last=True)
    await turn.status("completed", metadata={USAGE: {"rag": {"input_tokens": 3}}})


async def test_the_answer_goes_to_stdout_and_the_progress_to_stderr(tmp_path):
    done = await ask(answering, tmp_path)
    assert (done.code, done.out) == (0, "The **answer** is 42.\n")
    assert "rag > search: working" in done.err
    assert "rag: completed in 1.5 s" in done.err
    assert "\nrag: working\n" in done.err
    assert "\x1b" not in done.out + done.err


async def test_quiet_leaves_the_answer_alone(tmp_path):
    assert await ask(answering, tmp_path, "-q") == Finished(0, "The **answer** is 42.\n", "")


async def test_a_quiet_chat_prints_answers_and_nothing_else(tmp_path):
    async with serve(ScriptedAgent(answering)) as url:
        done = await run("chat", "--url", url, "-q", home=tmp_path, typed="hello\n")
    assert (done.code, done.out.strip(), done.err) == (0, "The **answer** is 42.", "")


async def test_quiet_still_says_why_there_is_no_answer(tmp_path):
    async def failing(turn: Turn) -> None:
        await turn.task()
        await turn.activity(kind="tool_started", agent="boss", call_id="t1", tool="search", arguments="x")
        await turn.status(
            "failed", "GitHub is down.", {ERROR: {"code": "upstream_unavailable", "message": "Down."}}
        )

    done = await ask(failing, tmp_path, "--quiet")
    assert (done.code, done.out) == (4, "")
    assert done.err.strip() == "Failed [upstream_unavailable]: Down."


async def test_json_prints_one_object_per_event_and_an_end(tmp_path):
    done = await ask(answering, tmp_path, "--json")
    events = [json.loads(line) for line in done.out.splitlines()]
    assert events[0]["event"] == "task"
    assert {"task", "status", "plan", "activity", "text", "usage", "end"} == {e["event"] for e in events}
    assert events[-1] | {"task_id": "", "context_id": ""} == {
        "event": "end", "state": "completed", "answer": "The **answer** is 42.", "question": "",
        "files": [],
        "task_id": "", "context_id": "", "exit_code": 0,
    }  # fmt: skip
    assert events[-1]["task_id"] == events[0]["task_id"] != ""


async def test_a_failed_task_exits_4_and_says_why(tmp_path):
    async def failing(turn: Turn) -> None:
        await turn.task()
        error = {
            "code": "upstream_unavailable",
            "message": "GitHub is down.",
            "retryable": True,
            "trace_id": "t9",
        }
        await turn.status("failed", "GitHub is down.", {ERROR: error})

    done = await ask(failing, tmp_path)
    assert (done.code, done.out) == (4, "")
    assert "Failed [upstream_unavailable]: GitHub is down. (trace t9)" in done.err


async def test_a_part_of_an_answer_is_shown_with_what_kept_it_from_being_whole(tmp_path):
    async def short(turn: Turn) -> None:
        await turn.task()
        await turn.chunk("Two of three.", append=False)
        error = {"code": "budget_exceeded", "message": "The budget is used up.", "trace_id": "t9"}
        await turn.status("completed", metadata={ERROR: error})

    done = await ask(short, tmp_path)
    assert (done.code, done.out) == (0, "Two of three.\n")
    assert "Incomplete [budget_exceeded]: The budget is used up. (trace t9)" in done.err


async def test_a_rejected_task_exits_4(tmp_path):
    async def rejecting(turn: Turn) -> None:
        await turn.task()
        await turn.status("rejected", "Not my kind of work.")

    done = await ask(rejecting, tmp_path)
    assert done.code == 4
    assert "Not my kind of work." in done.err


async def test_a_question_of_the_agent_exits_5(tmp_path):
    async def asking(turn: Turn) -> None:
        await turn.task()
        await turn.status("input_required", "Which repository?")

    done = await ask(asking, tmp_path)
    assert done.code == 5
    assert "Which repository?" in done.err


async def test_a_task_canceled_elsewhere_exits_6(tmp_path):
    async def canceled(turn: Turn) -> None:
        await turn.task()
        await turn.status("canceled")

    assert (await ask(canceled, tmp_path)).code == 6


async def test_a_foreign_agent_may_answer_with_a_plain_message(tmp_path):
    async def messaging(turn: Turn) -> None:
        await turn.message("Just a message.")

    assert await ask(messaging, tmp_path) == Finished(0, "Just a message.\n", "")


async def test_a_foreign_agent_may_answer_in_its_last_status(tmp_path):
    async def telling(turn: Turn) -> None:
        await turn.task()
        await turn.status("completed", "Told in the status.")

    assert (await ask(telling, tmp_path)).out == "Told in the status.\n"


async def test_several_artifacts_of_a_foreign_agent_are_all_shown(tmp_path):
    async def two(turn: Turn) -> None:
        await turn.task()
        await turn.chunk("one", append=False, name="first")
        await turn.chunk("two", append=False, name="second")
        await turn.status("completed")

    assert (await ask(two, tmp_path)).out == "### first\n\none\n\n### second\n\ntwo\n"


async def test_an_agent_that_does_not_stream_is_polled(tmp_path):
    done = await ask(answering, tmp_path, streaming=False)
    assert (done.code, done.out) == (0, "The **answer** is 42.\n")


async def test_a_restarted_artifact_replaces_what_was_there(tmp_path):
    async def restarting(turn: Turn) -> None:
        await turn.task()
        await turn.chunk("Half an ans", append=False)
        await turn.chunk("The whole answer.", append=False, last=True)
        await turn.status("completed")

    assert (await ask(restarting, tmp_path)).out == "The whole answer.\n"


async def test_control_characters_of_an_agent_never_reach_the_terminal(tmp_path):
    async def evil(turn: Turn) -> None:
        await turn.task()
        await turn.chunk("\x1b]0;owned\x07\x1b[2Jhello\x9b31m", append=False)
        await turn.status("completed")

    assert (await ask(evil, tmp_path)).out == "]0;owned[2Jhello31m\n"


async def test_a_stream_that_ends_early_is_picked_up_without_sending_again(tmp_path):
    """The server cuts the first stream after two events; the task goes on behind it."""
    release = asyncio.Event()

    async def slow(turn: Turn) -> None:
        await turn.task()
        await turn.chunk("part one, ", append=False)
        await asyncio.wait_for(release.wait(), 60)
        await turn.chunk("part two", append=True)
        await turn.status("completed")

    agent = ScriptedAgent(slow)
    async with serve(agent, wrap=lambda app: cut_first_stream(app, release)) as url:
        done = await run("chat", "--url", url, "--ask", "go", home=tmp_path)
    assert (done.code, done.out) == (0, "part one, part two\n")
    assert len(agent.seen) == 1


def cut_first_stream(app, release: asyncio.Event):
    """An ASGI app that ends the first event stream cleanly after its second event, as an evicted reader sees it."""
    cut = {"done": False}

    async def wrapped(scope, receive, send):
        count = {"n": 0, "stream": False}

        async def counted(message):
            if message["type"] == "http.response.start":
                headers = dict(message.get("headers", ()))
                count["stream"] = b"event-stream" in headers.get(b"content-type", b"") and not cut["done"]
            elif count["stream"] and message.get("body", b"").strip():
                count["n"] += 1
                if count["n"] == 2:
                    cut["done"] = True
                    await send({**message, "more_body": False})
                    release.set()
                    return
                if count["n"] > 2:
                    return
            elif count["stream"] and cut["done"]:
                return
            await send(message)

        await app(scope, receive, counted)

    return wrapped


async def test_ctrl_c_cancels_the_task_on_the_wire_and_exits_130(tmp_path):
    async def endless(turn: Turn) -> None:
        await turn.task()
        await turn.status("working")
        await asyncio.Event().wait()

    agent = ScriptedAgent(endless)
    async with serve(agent) as url:
        process = await start("chat", "--url", url, "--ask", "go", home=tmp_path)
        assert process.stderr is not None
        line = await asyncio.wait_for(process.stderr.readline(), 60)
        assert line.startswith(b"task ")
        process.send_signal(signal.SIGINT)
        done = await finish(process)
    assert done.code == 130
    assert "Canceled." in done.err
    assert agent.canceled == [agent.seen[0][1]]


async def test_nobody_at_the_address_exits_3_with_a_sentence(tmp_path):
    done = await run("chat", "--url", "http://127.0.0.1:9", "--ask", "hi", home=tmp_path)
    assert (done.code, done.out) == (3, "")
    assert done.err == "Error [service_unreachable]: No agent answers at http://127.0.0.1:9.\n"


async def test_what_is_no_address_exits_2(tmp_path):
    assert (await run("chat", "--url", "localhost", "--ask", "hi", home=tmp_path)).code == 2


async def test_context_goes_on_with_a_conversation(tmp_path):
    agent = ScriptedAgent(answering)
    async with serve(agent) as url:
        await run("chat", "--url", url, "--ask", "hi", "--context", "ctx-7", home=tmp_path)
    assert agent.seen[0][2] == "ctx-7"


async def test_a_notice_of_the_agent_is_beside_the_answer_on_standard_error(tmp_path):
    async def noticing(turn: Turn) -> None:
        await turn.task()
        await turn.chunk("Four.", append=False, last=True)
        await turn.chunk("I am a demonstration.", append=False, last=True, name="notice")
        await turn.status("completed")

    async with serve(ScriptedAgent(noticing)) as url:
        asked = await run("chat", "--url", url, "--ask", "2+2", home=tmp_path)
        typed = await run("chat", "--url", url, home=tmp_path, typed="2+2\n/new\n2+2\n")
    assert asked.out == "Four.\n"
    assert asked.err.count("I am a demonstration.") == 1
    assert typed.out == "Four.\nFour.\n"
    assert typed.err.count("I am a demonstration.") == 1
