"""A typed function is a tool that models choose well and that fails safely."""

from __future__ import annotations

import gc
import re
import threading
import weakref
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import httpx
import pytest
from langchain.tools import ToolRuntime
from pydantic import BaseModel, Field

from utils.a2a_common.graph.tools.agent_tool import agent_tool, built, declared_tools
from utils.errors import UpstreamRefused, UpstreamUnavailable
from utils.messages.results import Items, Record, parse_result


@agent_tool(examples=["List the open incidents"])
async def list_incidents(
    state: Literal["open", "all"] = "all", limit: Annotated[int, Field(ge=1, le=100)] = 20
) -> list[dict[str, str]]:
    """List incidents, newest first.

    Args:
        state: Only incidents in this state.
        limit: Most incidents.
    """
    return [{"title": "Slow search", "state": state}] * min(limit, 2)


def test_a_signature_and_a_docstring_are_the_schema_that_a_model_sees():
    tool = list_incidents.build()
    assert (tool.name, tool.description) == ("list_incidents", "List incidents, newest first.")
    assert tool.args["state"]["enum"] == ["open", "all"]
    assert tool.args["state"]["description"] == "Only incidents in this state."
    assert (tool.args["limit"]["minimum"], tool.args["limit"]["maximum"]) == (1, 100)
    assert tool.metadata == {"examples": ["List the open incidents"]}


async def test_a_tool_can_be_called_as_the_function_that_it_was():
    assert await list_incidents(state="open", limit=1) == [{"title": "Slow search", "state": "open"}]


async def test_rows_become_items_that_tables_are_made_of():
    result = parse_result(await list_incidents.build().ainvoke({"state": "open"}))
    assert isinstance(result, Items)
    assert (result.kind, result.total) == ("incidents", 2)


@dataclass
class Ticket:
    key: str


class Owner(BaseModel):
    name: str


@pytest.mark.parametrize("value", [Ticket("a"), Owner(name="a"), {"key": "a"}])
async def test_one_thing_becomes_a_record(value):
    @agent_tool()
    def ticket() -> object:
        """One ticket."""
        return value

    result = parse_result(await ticket.build().ainvoke({}))
    assert isinstance(result, Record)
    assert "a" in result.item.values()


async def test_a_plain_function_runs_beside_the_event_loop():
    @agent_tool()
    def where() -> str:
        """Where it runs."""
        return threading.current_thread().name

    assert await where.build().ainvoke({}) != threading.main_thread().name


class Desk:
    """A class with tools."""

    def __init__(self) -> None:
        self.open = ["a"]

    @agent_tool()
    async def list_open(self) -> list[dict[str, str]]:
        """List what is open."""
        return [{"key": key} for key in self.open]

    @agent_tool(name="whose", kind="owner")
    async def owner(self, key: str, runtime: ToolRuntime) -> str:
        """Tell the owner of a ticket."""
        return f"{key} {type(runtime).__name__}"


class Shop(Desk):
    """A class that replaces a tool of its base and adds one."""

    @agent_tool()
    async def list_open(self) -> list[dict[str, str]]:
        """List what is open in the shop."""
        return []

    @agent_tool()
    async def prices(self) -> dict[str, int]:
        """Tell the prices."""
        return {"a": 1}


async def test_methods_are_tools_of_their_agent_and_a_subclass_replaces_them():
    tools = built(declared_tools(Shop()))
    assert [tool.name for tool in tools] == ["list_open", "whose", "prices"]
    assert tools[0].description == "List what is open in the shop."
    assert "key" in str(await built(declared_tools(Desk()))[0].ainvoke({}))
    schema: Any = tools[1].tool_call_schema
    assert "runtime" not in schema["properties"]


async def test_a_tool_that_the_graph_alone_gives_something_is_given_it():
    @agent_tool()
    async def whose(runtime: ToolRuntime) -> str:
        """Tell whose conversation it is."""
        return str(runtime.state["owner"])

    runtime = ToolRuntime(
        state={"owner": "ann"}, context=None, config={}, stream_writer=print, tool_call_id="c1", store=None
    )
    (tool,) = built([whose])
    schema: Any = tool.tool_call_schema
    assert schema["properties"] == {}
    assert await tool.ainvoke({"runtime": runtime}) == "ann"


@pytest.mark.parametrize(
    ("status", "error"), [(404, UpstreamRefused), (403, UpstreamRefused), (503, UpstreamUnavailable)]
)
async def test_an_http_status_is_an_error_that_the_model_can_work_with(status, error):
    answers = httpx.MockTransport(lambda _: httpx.Response(status))

    @agent_tool()
    async def ticket() -> str:
        """One ticket."""
        async with httpx.AsyncClient(transport=answers) as client:
            return (await client.get("http://tickets/1")).raise_for_status().text

    with pytest.raises(error, match=f"behind ticket .* status {status}"):
        await ticket.build().ainvoke({})


async def test_a_service_that_is_down_is_unavailable():
    def refuse(_request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused at http://user:secret@tickets")

    @agent_tool()
    async def ticket() -> str:
        """One ticket."""
        async with httpx.AsyncClient(transport=httpx.MockTransport(refuse)) as client:
            return (await client.get("http://tickets/1")).text

    with pytest.raises(UpstreamUnavailable, match="cannot be reached") as raised:
        await ticket.build().ainvoke({})
    assert "secret" not in raised.value.message


def test_a_tool_without_a_docstring_is_refused_with_its_name():
    @agent_tool()
    def mute(key: str) -> str:
        return key

    with pytest.raises(TypeError, match="tool mute needs a docstring"):
        mute.build()


def test_an_argument_without_a_type_is_refused_with_its_name():
    @agent_tool()
    def loose(key) -> str:
        """Loose."""
        return str(key)

    with pytest.raises(TypeError, match="argument key of the tool loose needs a type"):
        loose.build()


async def _any_named(key: str, **more) -> str:
    """Loose."""
    return f"{key}{more}"


async def _any_number(*keys: str) -> str:
    """Loose."""
    return str(keys)


async def _by_place(key: str = "a", /) -> str:
    """Loose."""
    return key


@pytest.mark.parametrize(
    ("function", "argument"), [(_any_named, "**more"), (_any_number, "*keys"), (_by_place, "key")]
)
def test_an_argument_that_cannot_be_given_by_name_is_refused(function, argument):
    told = f"argument {argument} of the tool {function.__name__} cannot be given by name"
    with pytest.raises(TypeError, match=re.escape(told)):
        agent_tool()(function).build()


@pytest.mark.parametrize("argument", ["config", "callbacks", "run_manager", "model_config", "_hidden"])
def test_an_argument_whose_name_never_arrives_is_refused_where_the_tool_is_made(argument):
    space: dict[str, Any] = {}
    exec(f'def order({argument}: str) -> str:\n    """Order."""\n    return {argument}', space)
    with pytest.raises(TypeError, match=f"argument {argument} of the tool order has a name that"):
        agent_tool()(space["order"]).build()


class Kiosk:
    """Stands for an agent."""

    @agent_tool
    async def sell(self, item: str) -> str:
        """Sells something."""
        return item


@pytest.mark.parametrize("tool", [lambda: list_incidents, lambda: Kiosk().sell], ids=["function", "method"])
def test_the_schema_of_a_tool_is_made_once_for_all_agents_that_offer_it(tool):
    assert tool().build().args_schema is tool().build().args_schema


async def test_tools_of_two_agents_that_share_a_schema_run_each_on_their_own_agent():
    class Named(Kiosk):
        def __init__(self, name: str) -> None:
            self.name = name

        @agent_tool
        async def told(self) -> str:
            """Says whose it is."""
            return self.name

    tools = [Named(name).told.build() for name in ("one", "two")]
    assert [await tool.ainvoke({}) for tool in tools] == ["one", "two"]


@pytest.mark.parametrize("kind", ["function", "method"])
def test_neither_a_function_nor_an_agent_is_kept_for_the_schema_that_was_made_of_it(kind):
    class Stall(Kiosk):
        @agent_tool
        async def buy(self, item: str) -> str:
            """Buys something."""
            return item

    async def once(key: str) -> str:
        """Looks something up."""
        return key

    stall = Stall()
    kept = once if kind == "function" else stall
    _ = (agent_tool(once) if kind == "function" else stall.buy).build().tool_call_schema
    gone = weakref.ref(kept)
    del kept, once, stall
    gc.collect()
    assert gone() is None
