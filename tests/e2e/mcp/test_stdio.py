from __future__ import annotations

import fcntl
import sys
from pathlib import Path

import anyio
import pytest
import structlog.testing

from tests.e2e.mcp.conftest import STDIO
from utils.events import Completed
from utils.mcp.config import McpServer
from utils.mcp.stdio import stdio_streams
from utils.messages.results import ToolProblem, parse_result
from utils.testing.scripted_model import call, calls


async def test_an_agent_without_code_for_it_calls_a_tool_over_stdio(talk):
    chat = await talk({"box": STDIO}, calls(call("box_greet", name="Ada")), "Done.")
    assert isinstance((await chat.ask())[-1], Completed)
    assert chat.last_result().text == "Hello, Ada!"
    assert "own_tool" in chat.tool_names()


async def test_a_tools_failure_is_an_answer(talk):
    chat = await talk({"box": STDIO}, calls(call("box_fail")), "It failed.")
    assert isinstance((await chat.ask())[-1], Completed)
    problem = parse_result(chat.last_result().text)
    assert isinstance(problem, ToolProblem)
    assert problem.error == "upstream_refused"
    assert "the disk is full" in problem.message


async def test_a_server_that_ends_during_a_call_is_an_answer_and_comes_back(talk):
    script = (calls(call("box_exits")), "It ended.", calls(call("box_greet", name="Ada")), "Done.")
    chat = await talk({"box": STDIO}, *script)
    await chat.ask()
    problem = parse_result(chat.model.requests[1].messages[-1].text)
    assert isinstance(problem, ToolProblem)
    assert problem.error == "upstream_unavailable"
    await chat.ask("Greet")
    assert chat.last_result().text == "Hello, Ada!"


LAUNCHER = """
import fcntl, os, subprocess, sys
lock = open(sys.argv[1], "w")
fcntl.flock(lock, fcntl.LOCK_EX)
os.set_inheritable(lock.fileno(), True)
child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(3600)"
subprocess.Popen([sys.executable, "-c", child], stdin=subprocess.DEVNULL, close_fds=False)
if sys.argv[2] == "stays":
    sys.stdin.read()
"""
"""Starts a process that heeds neither the end of its input nor SIGTERM. Both hold a lock until they end."""


@pytest.mark.parametrize("launcher", ["stays", "ends"])
async def test_what_a_server_has_started_ends_with_its_session_also_if_the_server_itself_ended_before(
    launcher: str, tmp_path: Path
) -> None:
    lock = tmp_path / "lock"
    server = McpServer(name="h", command=sys.executable, args=("-c", LAUNCHER, str(lock), launcher))
    with anyio.fail_after(60):
        async with stdio_streams(server, 1_000) as (incoming, _):
            await incoming.receive()  # the child's line, which is no message
            with lock.open() as file, pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


async def test_a_server_that_writes_many_lines_that_are_no_messages_fills_no_log() -> None:
    server = McpServer(name="h", command=sys.executable, args=("-c", "print('junk\\n' * 1000)"))
    with anyio.fail_after(60), structlog.testing.capture_logs() as logged:
        async with stdio_streams(server, 1_000) as (incoming, _):
            async for _each in incoming:
                pass
    assert [line["count"] for line in logged] == [2**power for power in range(10)]
