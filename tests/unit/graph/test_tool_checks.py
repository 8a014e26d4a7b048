"""A tool that could not work ends the start of its agent with a sentence that names it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, tool
from langgraph.prebuilt import InjectedState, ToolRuntime
from pydantic import BaseModel, create_model
from pydantic import v1 as pydantic_1

from utils.a2a_common.graph.tools.checks import check_tools
from utils.errors import SettingsError
from utils.testing.scripted_model import ScriptedModel


async def nothing(**arguments: Any) -> str:
    return ""


def taking(*names: str, name: str = "t") -> BaseTool:
    fields: dict[str, Any] = {each: (str, "") for each in names}
    return StructuredTool(
        name=name, description="d", args_schema=create_model("Args", **fields), coroutine=nothing
    )


def described(called: Callable[..., Awaitable[str]], *names: str) -> BaseTool:
    """A tool with a schema that was written by hand, or read from somewhere."""
    schema = {"type": "object", "properties": {each: {"type": "string"} for each in names}}
    return StructuredTool(name="t", description="d", args_schema=schema, coroutine=called)


def refusal(*tools: BaseTool) -> str | None:
    """The sentence with which an agent of these tools does not start; `None` where it takes them."""
    try:
        check_tools("helper", tools)
    except SettingsError as error:
        return error.message
    return None


def refused(*tools: BaseTool) -> str:
    told = refusal(*tools)
    assert told is not None
    return told


@tool
async def filled(
    path: str,
    config: RunnableConfig,
    runtime: ToolRuntime,
    state: Annotated[dict[str, Any], InjectedState],
    call: Annotated[str, InjectedToolCallId],
) -> str:
    """What the graph fills is no argument of the model."""
    return ""


def test_usual_tools_are_taken():
    assert refusal(filled, taking("path", "name", "state", "args"), taking(name="a-b_C9")) is None
    assert refusal() is None


@pytest.mark.parametrize("name", ["", "a b", "lösche", "a.b", "x" * 65, "a\n"])
def test_a_name_that_providers_refuse_is_told(name: str):
    told = refused(taking(), taking(name=name))
    assert told.startswith(f"The tool {name!r} of the agent helper cannot be used: its name must be 1 to 64")


def test_two_tools_of_one_name_are_told():
    assert (
        refused(taking(), taking(name="u"), taking())
        == "The agent helper has 2 tools of the name 't': rename one."
    )


@pytest.mark.parametrize("name", ["config", "run_manager", "runtime", "self"])
def test_an_argument_that_would_not_arrive_is_told(name: str):
    assert f"the name of its argument {name!r} itself" in refused(taking("path", name))


@pytest.mark.parametrize("name", ["callbacks", "runtime"])
def test_an_argument_that_is_filled_where_the_function_names_it_is_told(name: str):
    async def called(path: str, callbacks: Any = None, runtime: Any = None) -> str:
        return ""

    assert f"the name of its argument {name!r} itself" in refused(described(called, "path", name))


@pytest.mark.parametrize("name", ["callbacks", "runtime"])
async def test_an_argument_that_arrives_where_the_function_takes_whatever_comes_is_taken(name: str):
    async def called(**arguments: Any) -> str:
        return str(arguments)

    made = described(called, name)
    assert refusal(made) is None
    turn = AIMessage("", tool_calls=[{"id": "1", "name": "t", "args": {name: "mine"}}])
    model = ScriptedModel(script=[turn, AIMessage("done")])
    said = await create_agent(model, [made]).ainvoke({"messages": [HumanMessage("go")]})
    assert said["messages"][2].content == str({name: "mine"})


def test_a_tool_whose_arguments_are_a_model_of_pydantic_1_is_taken():
    class Args(pydantic_1.BaseModel):
        path: str

    tool = StructuredTool(name="t", description="d", args_schema=Args, coroutine=nothing)
    assert refusal(tool) is None


def test_a_schema_that_cannot_be_written_or_is_no_object_is_told():
    class Odd(BaseModel):
        what: Callable[[], str]

    odd = StructuredTool(name="odd", description="d", args_schema=Odd, coroutine=nothing)
    assert "'odd' of the agent helper cannot be used: the schema of its arguments" in refused(odd)
    listed = StructuredTool(name="l", description="d", args_schema={"type": "array"}, coroutine=nothing)
    assert "its arguments are not an object" in refused(listed)
