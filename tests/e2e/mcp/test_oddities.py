"""A server that keeps to no protocol costs an agent the tool that it concerns, and what it says is told as it said it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
import structlog.testing

from tests.e2e.mcp.conftest import ATTACHED, STDIO, Plain
from utils.events import Completed
from utils.llm.factory import create_chat_model
from utils.messages.results import ToolProblem, parse_result
from utils.settings import LLMSettings, ModelProvider
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls
from utils.testing.strict_provider import StrictProvider

ODD: dict[str, Any] = {"odd": {**STDIO, "args": [*ATTACHED, "-m", "tests.e2e.mcp.oddities"]}}
UNUSABLE = {
    "dangling": 'the schema of its arguments refers to "#/$defs/Nope", which it does not contain',
    "elsewhere": 'the schema of its arguments refers to "https://example.com/schema.json", which it does not contain',
}
PROVIDERS = [one.value for one in ModelProvider if one is not ModelProvider.EMBEDDED]


async def told(talk: Any, tool: str, **arguments: Any) -> str:
    """What the model reads of a call; the agent answers in the end."""
    chat = await talk(ODD, calls(call("own_tool"), call(f"odd_{tool}", **arguments)), "Done.")
    assert isinstance((await chat.ask())[-1], Completed)
    return str(chat.last_result().text)


async def problem(talk: Any, tool: str) -> ToolProblem:
    found = parse_result(await told(talk, tool))
    assert isinstance(found, ToolProblem)
    return found


async def test_a_tool_that_no_request_can_carry_is_left_out_and_the_others_work(talk):
    with structlog.testing.capture_logs() as logged:
        chat = await talk(ODD, calls(call("odd_mixed", a="two")), "Done.")
        assert isinstance((await chat.ask())[-1], Completed)
    assert chat.last_result().text == '{"a": "two"}'
    assert {"own_tool", "odd_mixed", "odd_names"} < chat.tool_names()
    assert not {"odd_dangling", "odd_elsewhere"} & chat.tool_names()
    lines = [line for line in logged if line["event"] == "mcp.tool_left_out"]
    assert {line["tool"]: line["reason"] for line in lines} == UNUSABLE
    assert {(line["server"], line["log_level"]) for line in lines} == {("odd", "warning")}
    assert len(lines) == 2


async def test_readiness_and_the_card_tell_which_tools_cannot_be_used_and_why():
    environ = {"MCP_SERVERS": json.dumps(ODD), "MCP_START_SECONDS": "30"}
    async with (
        running_agent(Plain, environ=environ, model=ScriptedModel.of()) as url,
        httpx.AsyncClient(trust_env=False) as http,
    ):
        ready: dict[str, Any] = (await http.get(f"{url}/readyz")).json()
        card = (await http.get(f"{url}/.well-known/agent-card.json")).json()
    listed = ", ".join(f"{tool}: {why}" for tool, why in UNUSABLE.items())
    assert ready["status"] == "ready"
    assert ready["detail"] == f"the MCP server odd has tools that cannot be used ({listed})"
    (skill,) = [skill for skill in card["skills"] if skill["id"] == "mcp_odd"]
    assert "mixed" in skill["description"]
    assert "dangling" not in skill["description"]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_every_provider_takes_a_request_with_the_tools_that_are_left(
    talk: Any, double: StrictProvider, provider: str
) -> None:
    chat = await talk(ODD, "Hello.")
    await chat.ask()
    left = [tool for tool in chat.agent._built.tools if tool.name.startswith("odd_")]
    model = create_chat_model(LLMSettings.load(double.environment(provider)))
    await model.bind_tools(left).ainvoke("Hello.")
    assert double.rejections == []
    (request,) = double.requests
    assert {tool.name for tool in request.tools} == {tool.name for tool in left}


async def test_a_server_gets_its_own_names_of_arguments(talk):
    assert await told(talk, "names", _filter="x", config="y") == '{"$filter": "x", "config": "y"}'


async def test_structured_content_without_a_text_reaches_the_model(talk):
    assert json.loads(await told(talk, "structured")) == {"n": 1, "deep": {"a": [1, 2]}}


async def test_a_result_is_not_compared_with_the_schema_of_its_server_which_could_take_forever(talk):
    assert json.loads(await told(talk, "unlike")) == {"a": "a" * 22 + "!"}


async def test_half_a_character_in_a_description_or_a_result_costs_that_character(talk):
    assert await told(talk, "surrogate") == "half \ufffd of a character"


async def test_an_error_of_the_server_is_told_in_its_words_on_one_line(talk):
    found = await problem(talk, "broken")
    assert found.error == "upstream_refused"
    assert found.message.startswith('The MCP server odd answered with error -32000: "The disk is full!!!')
    assert len(found.message) < 600


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("closed", '-32000: "Connection closed"'),
        ("late", '408: "The database took too long"'),
        ("ended", '32600: "No such row"'),
    ],
)
async def test_an_error_with_a_code_of_our_own_client_is_still_the_servers(talk, tool: str, words: str):
    chat = await talk(ODD, calls(call(f"odd_{tool}")), calls(call("odd_calls")), "Done.")
    assert isinstance((await chat.ask())[-1], Completed)
    found = parse_result(chat.model.requests[1].messages[-1].text)
    assert isinstance(found, ToolProblem)
    assert (found.error, found.message) == (
        "upstream_refused",
        f"The MCP server odd answered with error {words}",
    )
    assert chat.last_result().text == tool  # called once, by a connection that is still the same


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("video", 'The tool video answered with content of a kind that is not known here: "video".'),
        (
            "listed",
            "The tool listed answered, but its `structuredContent` does not have a form that MCP knows.",
        ),
        ("silent", "The tool silent answered, but its `content` does not have a form that MCP knows."),
    ],
)
async def test_a_result_of_an_unknown_kind_is_named(talk, tool: str, message: str):
    found = await problem(talk, tool)
    assert (found.error, found.message) == ("upstream_refused", message)


SPECIAL = ["self", "config", "run_manager", "callbacks", "args", "kwargs", "runtime", "state", "store"]
SPECIAL += [
    "tool_call_id",
    "name",
    "input",
    "tool_input",
    "arguments",
    "run_id",
    "tags",
    "metadata",
    "verbose",
]


async def test_no_name_of_an_argument_is_special_whether_the_schema_has_it_or_not(talk):
    arguments = {name: f"my {name}" for name in SPECIAL}
    assert json.loads(await told(talk, "anything", **{"": ""} | arguments)) == {"": ""} | arguments


@pytest.mark.parametrize("name", SPECIAL)
async def test_an_argument_of_any_name_arrives_alone_and_under_the_servers_name(talk, name: str):
    assert json.loads(await told(talk, "anything", **{name: {"a": [1]}})) == {name: {"a": [1]}}
