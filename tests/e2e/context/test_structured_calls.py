"""A model that calls no tools by itself is held to a JSON schema, step by step: real client, a double that checks each request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format, struct_pb2
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from tests.e2e.agents.peers import Answer, Keys, ask, connected, message
from utils.a2a_common import AgentRuntime
from utils.a2a_common.graph.model.structured_calls import IN_THE_FORM, IN_WORDS, MOST_CALLS
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.graph.tools.boundary import DELEGATION
from utils.a2a_common.protocol.delegation_context import DelegationContext
from utils.errors import SettingsError
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel
from utils.testing.strict_provider import ChatRequest, Reply, StrictProvider, run_strict_provider

EXAMPLE = "Look up the key a"


class Shown(Keys):
    """Its tool says by an example what it is for."""

    async def tools(self) -> Sequence[BaseTool]:
        (lookup,) = await super().tools()
        return [lookup.model_copy(update={"metadata": {"examples": [EXAMPLE]}})]


LOOK_UP = json.dumps([{"name": "lookup", "arguments": {"key": "a"}}])
ANSWER = json.dumps([{"name": "answer", "arguments": {}}])


def held(request: ChatRequest) -> bool:
    """Whether the answer must be one of the schema."""
    return "response_format" in request.body


def small_model(request: ChatRequest) -> Reply:
    """Decides well when it is held to a form; on its own it answers without looking anything up."""
    if not held(request):
        return Reply(
            "a is 1" if any(said.role == "tool" for said in request.messages) else "I think it is 7."
        )
    looked_up = any(said.role == "tool" for said in request.messages)
    return Reply(ANSWER if looked_up else LOOK_UP)


async def answered(double: StrictProvider, agent: type[Keys] = Keys, **settings: str) -> str:
    """All text that a client was sent."""
    environ = double.environment("openai-compatible") | settings
    async with running_agent(agent, environ=environ) as url, connected(url) as client:
        return (await ask(client, "What is a?")).text


async def test_each_step_is_a_decision_of_the_schema_and_only_the_answer_is_words() -> None:
    with run_strict_provider(small_model, window=32_000) as double:
        answer = await answered(double, LLM_TOOL_CALLS="json")
    assert answer == "a is 1"
    assert [held(request) for request in double.requests] == [True, True, False]
    decision, second, words = double.requests
    assert names_in(decision) == {"lookup", "answer"} | offered(decision)
    assert offered(decision) == offered(second) == offered(words), "a server's cache finds the prefix again"
    assert words.body["tool_choice"] == "none"
    assert words.messages[-1].text == IN_WORDS
    assert IN_WORDS not in str(double.requests[0].body) + str(second.body)


async def test_the_first_decision_shows_an_example_of_each_tool_and_then_the_request() -> None:
    with run_strict_provider(small_model, window=32_000) as double:
        await answered(double, Shown, LLM_TOOL_CALLS="json")
    first, second, words = double.requests
    instruction = str(first.body["messages"][-1]["content"])
    example = instruction.index(f'"{EXAMPLE}" -> [{{"name": "lookup", "arguments": {{"key": "{EXAMPLE}"}}}}]')
    assert example < instruction.index("The request:") < instruction.index("What is a?")
    assert "art_0123456789ab" not in instruction, "nothing has been cut out"
    for later in (second, words):
        assert f'"{EXAMPLE}" ->' not in str(later.body["messages"])


def stubborn(request: ChatRequest) -> Reply:
    """Decides on the same call again and again."""
    return Reply(LOOK_UP if held(request) else "a is 1")


async def test_a_call_that_was_answered_is_not_made_again() -> None:
    with run_strict_provider(stubborn, window=32_000) as double:
        answer = await answered(double, LLM_TOOL_CALLS="json")
    assert answer == "a is 1"
    assert [held(request) for request in double.requests] == [True, True, False]


async def test_a_tool_is_offered_a_few_times_only() -> None:
    keys = iter("abcdefgh")

    def curious(request: ChatRequest) -> Reply:
        if not held(request):
            return Reply("Enough.")
        if "lookup" not in names_in(request):
            return Reply(ANSWER)
        return Reply(json.dumps([{"name": "lookup", "arguments": {"key": next(keys)}}]))

    with run_strict_provider(curious, window=32_000) as double:
        assert await answered(double, LLM_TOOL_CALLS="json") == "Enough."
    assert len(double.requests) == MOST_CALLS + 2


async def test_two_parts_of_a_request_are_two_calls_of_one_decision() -> None:
    two = json.dumps([{"name": "lookup", "arguments": {"key": key}} for key in "aba"])

    def thorough(request: ChatRequest) -> Reply:
        if not held(request):
            return Reply("Both are there.")
        return Reply(ANSWER if any(said.role == "tool" for said in request.messages) else two)

    with run_strict_provider(thorough, window=32_000) as double:
        assert await answered(double, LLM_TOOL_CALLS="json") == "Both are there."
    results = [said.text for said in double.requests[-1].messages if said.role == "tool"]
    assert results == ["the value of a", "the value of b"], "each call once"


class Delegates(Keys):
    """Its tool is a delegation, as a supervisor's are."""

    async def tools(self) -> Sequence[BaseTool]:
        @tool
        async def other(request: str) -> str:
            """Asks another agent."""
            return f"told: {request}"

        return [other.model_copy(update={"metadata": {DELEGATION: True}})]


async def test_an_agent_that_does_all_of_a_request_gets_it_word_for_word() -> None:
    def garbling(request: ChatRequest) -> Reply:
        if not held(request):
            return Reply("Done.")
        told = any(said.role == "tool" for said in request.messages)
        return Reply(
            ANSWER
            if told
            else json.dumps([{"name": "other", "arguments": {"request": "What is run 30433642?"}}])
        )

    with run_strict_provider(garbling, window=32_000) as double:
        await answered(double, Delegates, LLM_TOOL_CALLS="json")
    assert [said.text for said in double.requests[-1].messages if said.role == "tool"] == ["told: What is a?"]


async def test_a_delegated_task_begins_with_a_tool() -> None:
    scope = DelegationContext("What is a?", 1, 1, "parent").to_payload()
    with run_strict_provider(small_model, window=32_000) as double:
        environ = double.environment("openai-compatible") | {"LLM_TOOL_CALLS": "json"}
        async with running_agent(Keys, environ=environ) as url, connected(url) as client:
            delegated = message("What is a?")
            delegated.message.parts.add().data.CopyFrom(json_format.ParseDict(scope, struct_pb2.Value()))
            assert Answer([event async for event in client.send_message(delegated)]).text == "a is 1"
    first, second, _ = double.requests
    assert "answer" not in names_in(first)
    assert "answer" in names_in(second)


async def test_without_the_setting_no_request_is_held_to_a_schema() -> None:
    with run_strict_provider(small_model, window=32_000) as double:
        answer = await answered(double)
    assert answer == "I think it is 7."
    assert not any(held(request) for request in double.requests)


async def test_a_server_that_ignores_the_schema_is_answered_as_without_it() -> None:
    with run_strict_provider(lambda _: Reply("Hello there."), window=32_000) as double:
        answer = await answered(double, LLM_TOOL_CALLS="json")
    assert answer == "Hello there."
    assert len(double.requests) == 1


def names_in(request: ChatRequest) -> set[str]:
    schema: dict[str, Any] = request.body["response_format"]["json_schema"]["schema"]
    return {form["properties"]["name"]["const"] for form in schema["items"]["anyOf"]}


def offered(request: ChatRequest) -> set[str]:
    return {tool.name for tool in request.tools}


async def test_a_provider_whose_models_call_tools_by_themselves_is_refused_at_the_start(
    tmp_path: Path,
) -> None:
    settings = AgentSettings.load({"LLM_TOOL_CALLS": "json"})
    model = ScriptedModel(script=["Hello."])
    agent = Keys(AgentRuntime(home=tmp_path, settings=settings, model=model, checkpointer=InMemorySaver()))
    with pytest.raises(SettingsError, match="LLM_PROVIDER=openai-compatible"):
        await agent.build()


class Found(BaseModel):
    """What a key stands for."""

    key: str
    value: str


class Filled(Keys):
    """Its answers fill a form."""

    answer_schema = Found


class FilledWithoutTools(Filled):
    """It has nothing to call."""

    async def tools(self) -> Sequence[BaseTool]:
        return []


FILLED = '{"key":"a","value":"1"}'


def schema_name(request: ChatRequest) -> str:
    """Name of the schema that the answer is held to."""
    return str(request.body["response_format"]["json_schema"]["name"])


def filling(request: ChatRequest) -> Reply:
    """Fills what it is held to."""
    if schema_name(request) == "Found":
        return Reply(FILLED)
    looked_up = any(said.role == "tool" for said in request.messages)
    return Reply(ANSWER if looked_up else LOOK_UP)


async def filled(double: StrictProvider, agent: type[Filled], **settings: str) -> Any:
    """What the form of the answer was filled with."""
    environ = double.environment("openai-compatible") | {"LLM_TOOL_CALLS": "json"} | settings
    async with running_agent(agent, environ=environ) as url, connected(url) as client:
        answer = await ask(client, "What is a?")
    artifacts = [each.artifact_update.artifact for each in answer.events if each.HasField("artifact_update")]
    (data,) = [json_format.MessageToDict(each.parts[0].data) for each in artifacts if each.name == "Found"]
    return data


@pytest.mark.parametrize("name", ["gpt-4o", "qwen2.5"])  # LangChain knows that the first one takes a schema
async def test_a_form_of_the_answer_is_a_schema_as_well_and_never_a_tool(name: str) -> None:
    with run_strict_provider(filling, window=32_000) as double:
        assert await filled(double, Filled, LLM_MODEL=name) == {"key": "a", "value": "1"}
    assert [schema_name(request) for request in double.requests] == ["step", "step", "Found"]
    decision, second, last = double.requests
    assert offered(decision) == offered(second) == offered(last)
    assert decision.body["tools"] == last.body["tools"], "a server's cache finds the prefix again"
    assert {each.body.get("tool_choice") for each in (decision, second)} == {None}
    assert (last.body["tool_choice"], last.messages[-1].text) == ("none", IN_THE_FORM)
    assert double.rejections == []


async def test_a_form_of_an_agent_without_tools_is_a_schema() -> None:
    with run_strict_provider(filling, window=32_000) as double:
        assert await filled(double, FilledWithoutTools) == {"key": "a", "value": "1"}
    assert double.rejections == []


async def test_an_answer_in_words_is_asked_for_again_in_the_form() -> None:
    answers = iter(["It is 1.", FILLED])

    def talking(request: ChatRequest) -> Reply:
        return Reply(next(answers)) if schema_name(request) == "Found" else filling(request)

    with run_strict_provider(talking, window=32_000) as double:
        assert await filled(double, Filled) == {"key": "a", "value": "1"}
    assert double.rejections == []


async def test_a_tool_that_nobody_offered_is_not_called() -> None:
    def inventive(request: ChatRequest) -> Reply:
        made_up = json.dumps([{"name": "Found", "arguments": {"key": "a", "value": "1"}}])
        return Reply(FILLED if schema_name(request) == "Found" else made_up)

    with run_strict_provider(inventive, window=32_000) as double:
        assert await filled(double, Filled) == {"key": "a", "value": "1"}
    assert double.rejections == []
