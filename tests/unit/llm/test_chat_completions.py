"""Streamed chat completions: the same requests and answers as through the client's own, without its typed objects."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from openai.resources.chat.completions import AsyncCompletions
from pydantic import BaseModel

from utils.llm.chat_completions import ChatCompletions, with_plain_streams
from utils.llm.factory import create_chat_model
from utils.settings import LLMSettings
from utils.testing.strict_provider import Call, Fault, FaultKind, Reply, run_strict_provider

pytestmark = pytest.mark.listens

TOOL = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Looks.",
        "parameters": {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]},
    },
}
SAID = [
    SystemMessage("Be brief."),
    HumanMessage([{"type": "text", "text": "Look."}, {"type": "text", "text": "(Today is Monday.)"}]),
    AIMessage("", tool_calls=[{"name": "look", "args": {"key": "a"}, "id": "c1"}]),
    ToolMessage("found", tool_call_id="c1", name="look"),
]


def calling(_request: Any) -> Reply:
    return Reply("Once more.", [Call("c2", "look", {"key": "b"})])


async def whole(model: Any) -> Any:
    total: Any = None
    bound = model.bind_tools([TOOL]) if hasattr(model, "bind_tools") else model
    async for chunk in bound.astream(SAID):
        total = chunk if total is None else total + chunk
    total.id = None
    return total


def models(url: str, **options: Any) -> tuple[ChatOpenAI, ChatOpenAI]:
    """The client's own, and ours."""
    made = [
        ChatOpenAI(
            model="gpt-4o",
            api_key="sk-double",
            base_url=f"{url}/v1",
            max_retries=0,
            stream_usage=True,
            **options,
        )
        for _ in range(2)
    ]
    return made[0], with_plain_streams(made[1])


async def test_a_streamed_request_and_its_answer_are_those_of_the_client():
    options = {"extra_body": {"top_k": 3}, "default_headers": {"X-Team": "a"}, "temperature": 0.5, "seed": 7}
    with run_strict_provider(calling) as double:
        theirs, ours = [await whole(model) for model in models(double.url, **options)]
        asked, asked_by_us = (request.body for request in double.requests)
        heads = [{k: v for k, v in each.items() if k != b"content-length"} for each in double.headers]
    assert ours.model_dump() == theirs.model_dump()
    assert ours.tool_calls == [{"name": "look", "args": {"key": "b"}, "id": "c2", "type": "tool_call"}]
    assert asked_by_us == asked
    assert asked["top_k"] == 3
    assert heads[0] == heads[1]


class Found(BaseModel):
    """What was found."""

    key: str


async def test_an_answer_for_a_schema_is_asked_for_as_by_the_client_and_comes_as_it_is():
    schema = {"type": "json_schema", "json_schema": {"name": "Found", "schema": Found.model_json_schema()}}
    with run_strict_provider(lambda _request: Reply('{"key":"a"}')) as double:
        theirs, ours = [model.bind(response_format=schema) for model in models(double.url)]
        said = ["".join([chunk.text async for chunk in model.astream(SAID)]) for model in (theirs, ours)]
        asked, asked_by_us = (request.body for request in double.requests)
    assert said == ['{"key":"a"}'] * 2
    assert asked_by_us == asked


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")
async def test_an_answer_for_a_python_type_comes_as_the_client_makes_it():
    with run_strict_provider(lambda _request: Reply('{"key":"a"}')) as double:
        model = models(double.url)[1].bind(response_format=Found)
        filled = [chunk.additional_kwargs.get("parsed") async for chunk in model.astream(SAID)]
    assert Found(key="a") in filled


async def test_an_answer_for_a_schema_that_is_cut_off_is_no_error_of_the_client():
    schema = {"type": "json_schema", "json_schema": {"name": "Found", "schema": Found.model_json_schema()}}
    with run_strict_provider(lambda _request: Reply('{"key":', reason="length")) as double:
        said = await whole(models(double.url)[1].bind(response_format=schema))
    assert (said.text, said.response_metadata["finish_reason"]) == ('{"key":', "length")


async def test_a_failure_is_the_error_of_the_client():
    with run_strict_provider(lambda _request: Fault(FaultKind.UNAUTHORISED)) as double:
        for model in models(double.url):
            with pytest.raises(openai.AuthenticationError):
                await whole(model)


async def test_an_answer_that_is_not_streamed_comes_as_the_client_makes_it():
    with run_strict_provider() as double:
        said = [await model.ainvoke("hello") for model in models(double.url)]
    assert said[0].text == said[1].text == "hello"


@pytest.mark.parametrize("provider", ["openai", "azure-openai", "openai-compatible"])
async def test_each_provider_of_such_completions_streams_without_typed_objects(provider, monkeypatch):
    async def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("the client's own request")

    monkeypatch.setattr(AsyncCompletions, "create", refused)
    with run_strict_provider() as double:
        model = create_chat_model(LLMSettings.load(double.environment(provider)))
        assert "".join([chunk.text async for chunk in model.astream("hello")]) == "hello"
    assert isinstance(model, (ChatOpenAI, AzureChatOpenAI))
    assert isinstance(model.async_client, ChatCompletions)
