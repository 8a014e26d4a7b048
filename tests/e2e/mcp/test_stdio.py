from __future__ import annotations

from tests.e2e.mcp.conftest import STDIO
from utils.events import Completed
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
