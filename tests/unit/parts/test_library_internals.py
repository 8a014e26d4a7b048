"""The private parts of libraries that are used are what they are taken for: a version that changes one fails the test of its name."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import anthropic
import openai
import pytest
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_openai import AzureOpenAIEmbeddings, ChatOpenAI, OpenAIEmbeddings
from langgraph.channels import BinaryOperatorAggregate
from langgraph.graph import END, START, StateGraph

from utils.library_internals import (
    client_of_embeddings,
    forget_runner,
    function_of,
    http_client_of,
    replace_channel,
    set_beta_completions,
    set_function,
)

KEY: dict[str, Any] = {"api_key": "k"}
AZURE: dict[str, Any] = {**KEY, "azure_endpoint": "https://x.example", "api_version": "1"}


class State(TypedDict):
    said: Annotated[list[str], operator.add]


def compiled(*words: str) -> Any:
    """A graph with a node that says the words."""

    async def say(_state: Any) -> dict[str, list[str]]:
        return {"said": list(words)}

    graph: StateGraph[Any, Any, Any, Any] = StateGraph(State)
    action: Any = say
    graph.add_node("say", action)
    graph.add_edge(START, "say")
    graph.add_edge("say", END)
    return graph.compile()


@pytest.mark.parametrize("package", [openai, anthropic], ids=["openai", "anthropic"])
async def test_http_client_of(package: Any) -> None:
    http = package.DefaultAsyncHttpxClient()
    client = package.AsyncOpenAI if package is openai else package.AsyncAnthropic
    assert http_client_of(client(api_key="k", http_client=http)) is http
    assert http.event_hooks == {"request": [], "response": []}
    await http.aclose()


@pytest.mark.parametrize("made", [OpenAIEmbeddings(**KEY), AzureOpenAIEmbeddings(**AZURE)])
def test_client_of_embeddings(made: Any) -> None:
    assert isinstance(client_of_embeddings(made), openai.AsyncOpenAI)


async def test_set_beta_completions() -> None:
    class Asked(Exception):
        pass

    class Completions:
        def stream(self, **_options: Any) -> Any:
            raise Asked

    model = ChatOpenAI(api_key="k", model="gpt-4o")
    set_beta_completions(model.root_async_client, Completions())
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    with pytest.raises(Asked):
        await anext(model.astream("x", response_format=schema))


async def test_forget_runner() -> None:
    async def other(_state: State) -> dict[str, list[str]]:
        return {"said": ["other"]}

    graph = compiled("one")
    node = graph.nodes["say"]
    assert (await graph.ainvoke({"said": []}))["said"] == ["one"]
    assert "node" in vars(node)
    node.bound = RunnableLambda(other)
    forget_runner(node)
    assert (await graph.ainvoke({"said": []}))["said"] == ["other"]


async def test_function_of_and_set_function() -> None:
    async def other(_state: State) -> dict[str, list[str]]:
        return {"said": ["other"]}

    graph = compiled("one")
    code = graph.nodes["say"].bound
    function = function_of(code)
    assert function is not None
    assert await function({}) == {"said": ["one"]}
    assert function_of(RunnablePassthrough()) is None
    set_function(code, other)
    assert (await graph.ainvoke({"said": []}))["said"] == ["other"]


async def test_replace_channel() -> None:
    def made(kind: type[Any], reducer: Any) -> BinaryOperatorAggregate[Any]:
        assert reducer is operator.add
        return BinaryOperatorAggregate(kind, lambda old, new: [*new, *old])

    graph = compiled("one")
    replace_channel(graph, "said", made)
    assert (await graph.ainvoke({"said": ["zero"]}))["said"] == ["one", "zero"]
