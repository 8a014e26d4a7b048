"""What an MCP server was asked for and did not answer may have been done: it is told so, and not done a second time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.mcp.conftest import Plain
from tests.e2e.mcp.faulty import BREAKS_OFF, HANGS, PAGE, faulty
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.errors import OutcomeUnknown
from utils.events import AgentEvent, Failed, InputRequired
from utils.messages.results import ToolProblem, parse_result
from utils.testing.contract.client import client_of
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

FAULTS = {
    HANGS: ("tool_timeout", "The MCP server h did not answer within 1 seconds"),
    503: ("upstream_unavailable", "The MCP server h failed with status 503"),
    BREAKS_OFF: ("upstream_unavailable", "The MCP server h was lost during the request"),
    PAGE: ("upstream_unavailable", "The MCP server h answered with text/html, which is not MCP"),
}
every_fault = pytest.mark.parametrize("fault", FAULTS)


async def ended(
    talk: Any, fault: int | str, tool: str, **entry: Any
) -> tuple[AgentEvent, ToolProblem, list[str]]:
    """The end of a turn with one call that the user allowed, what the model read, and what the server did."""
    async with faulty(fault) as (server, settings):
        chat = await talk({"h": {**settings, **entry}}, calls(call(f"h_{tool}")), "So it is.")
        end = (await chat.ask())[-1]
        if isinstance(end, InputRequired):
            end = (await chat.answer("yes"))[-1]
        problem = parse_result(chat.last_result().text)
        await chat.agent.close()
    assert isinstance(problem, ToolProblem)
    return end, problem, server.done


@every_fault
async def test_whether_an_approved_change_was_made_is_unknown(talk, fault):
    end, problem, done = await ended(talk, fault, "write")
    said = f"{FAULTS[fault][1]}: whether it made the change is unknown. It was not run again."
    assert end == Failed("unknown_outcome", said, retryable=False)
    assert (problem.error, problem.message, problem.retryable) == ("unknown_outcome", said, False)
    assert problem.note == OutcomeUnknown.advice
    assert done == ["write"]


@every_fault
async def test_a_call_without_approval_that_may_have_had_its_effect_is_not_called_safe_to_repeat(talk, fault):
    end, problem, done = await ended(talk, fault, "write", allow=["write"])
    code, what = FAULTS[fault]
    said = f"{what}. Whether it had its effect, or still has it later, is unknown."
    assert end == Failed(code, said, retryable=False)
    assert (problem.message, problem.retryable, problem.note) == (said, False, OutcomeUnknown.advice)
    assert done == ["write"]


@every_fault
@pytest.mark.parametrize("tool", ["read", "set"])
async def test_what_only_reads_or_changes_nothing_more_may_be_tried_again(talk, fault, tool):
    end, problem, done = await ended(talk, fault, tool)
    code, what = FAULTS[fault]
    assert isinstance(end, Failed)
    assert (end.code, end.retryable) == (code, True)
    assert end.message.startswith(f"{what}.")
    assert (problem.retryable, problem.note) == (True, None)
    assert done == [tool]


async def test_a_change_that_was_never_sent_may_be_tried_again(talk):
    async with faulty(None) as (server, settings):
        chat = await talk({"h": {**settings, "allow": ["*"]}}, calls(call("h_write")), "So it is.")
    end = (await chat.ask())[-1]
    assert isinstance(end, Failed)
    assert (end.code, end.retryable, server.done) == ("upstream_unavailable", True, [])
    assert "unknown" not in end.message


async def test_a_turn_that_read_in_vain_as_well_is_not_called_safe_to_repeat(talk):
    async with faulty(503) as (server, settings):
        both = calls(call("h_read", "c1"), call("h_write", "c2"))
        chat = await talk({"h": {**settings, "allow": ["*"]}}, both, "Sorry.")
        end = (await chat.ask())[-1]
        await chat.agent.close()
    assert isinstance(end, Failed)
    assert not end.retryable
    assert sorted(server.done) == ["read", "write"]


@pytest.mark.parametrize("allow", [[], ["write"]])
@pytest.mark.parametrize("fault", [HANGS, 503])
async def test_the_same_message_sent_again_does_not_make_the_change_again(fault, allow):
    async with faulty(fault) as (server, settings):
        environ = {"MCP_SERVERS": json.dumps({"h": {**settings, "allow": allow}}), "MCP_START_SECONDS": "20"}
        writing = calls(call("h_write"))
        model = ScriptedModel.of(writing, "It was done.", writing, "It was done.")
        async with running_agent(Plain, environ=environ, model=model) as url, client_of(url) as client:
            seen = first = await client.ask("Write", messageId="m1")
            where = {"contextId": first.task["contextId"], "taskId": first.task["id"]}
            if first.states[-1] == "input_required":
                question = first.events[-1]["statusUpdate"]["status"]["message"]
                seen = await client.ask("yes", messageId="m2", metadata=question["metadata"], **where)
            error = seen.events[-1]["statusUpdate"]["metadata"][ERROR_EXTENSION]
            again = await client.send("Write", messageId="m1")
    assert (seen.states[-1], error["retryable"]) == ("failed", False)
    assert again["id"] == first.task["id"]
    assert server.done == ["write"]
