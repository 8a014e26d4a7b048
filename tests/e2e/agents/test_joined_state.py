"""State with a reducer in an agent with a graph of its own: each change counts once, in both graphs."""

from __future__ import annotations

import operator
from typing import Annotated, Any, ClassVar, NotRequired

import pytest
from langchain.agents import AgentState
from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langgraph.channels import Topic
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from tests.support.graphs import of_the_agent_alone
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.own.parts import GraphParts
from utils.a2a_common.graph.questions.asked_by_tools import ask_user
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.a2a_common.protocol.request import AgentRequest
from utils.context.state import ContextState
from utils.errors import SettingsError
from utils.testing.contract.client import client_of
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls


def counted(total: int, things: list[str]) -> int:
    """How many there are with these: what is kept is of another type than what is added."""
    return total + len(things)


def newest(kept: list[str], things: list[str]) -> list[str]:
    """The last three."""
    return [*kept, *things][-3:]


class Basket(ContextState):
    """What was put aside, how much of it there ever was, and the newest of it."""

    basket: NotRequired[Annotated[list[str], operator.add]]
    ever: NotRequired[Annotated[int, counted]]
    last: NotRequired[Annotated[list[str], newest]]
    noted: NotRequired[list[str]]


class Shop(BaseLangGraphAgent):
    """An agent with state of its own, and a graph of its own around it."""

    name = "shop"
    description = "Sells things."
    state_schema: ClassVar[type[Any] | None] = Basket

    @agent_tool()
    async def put(self, thing: str, runtime: ToolRuntime) -> Command[Any]:
        """Put a thing into the basket."""
        said = ToolMessage(f"It holds {thing}.", tool_call_id=runtime.tool_call_id)
        return Command(update={"basket": [thing], "ever": [thing], "last": [thing], "messages": [said]})

    @agent_tool()
    async def reserve(self, thing: str, runtime: ToolRuntime) -> Command[Any]:
        """Put a thing into the basket, once the user says for whom."""
        whom = ask_user("For whom?").text
        said = ToolMessage("Reserved.", tool_call_id=runtime.tool_call_id)
        return Command(update={"basket": [f"{thing} for {whom}"], "messages": [said]})

    @agent_tool()
    async def look(self, runtime: ToolRuntime) -> str:
        """Tell what is in the basket."""
        return str([runtime.state.get(key) for key in ("basket", "ever", "last")])

    async def graph(self, parts: GraphParts) -> StateGraph[Any, Any, Any, Any]:
        """The agent alone."""
        return of_the_agent_alone(parts, Basket)


PUT: list[Any] = [calls(call("put", "c1", thing="tea"), call("put", "c2", thing="cup")), "Done."]
LOOK: list[Any] = [calls(call("look")), "That is all."]


def seen(model: ScriptedModel) -> str:
    """What the tool `look` told the model last."""
    return str([m for m in model.requests[-1].messages if isinstance(m, ToolMessage)][-1].content)


async def test_what_tools_add_is_there_once_after_any_number_of_turns() -> None:
    model = ScriptedModel(script=[*PUT, *LOOK, *PUT, "Good day.", *LOOK])
    async with running_agent(Shop, model=model) as url, client_of(url) as client:
        first = await client.ask("Tea and a cup.")
        for words in ("What is there?", "The same again.", "Hello.", "What is there?"):
            last = await client.ask(words, context_id=first.task["contextId"])
    assert last.states[-1] == "completed"
    assert seen(model) == str([["tea", "cup", "tea", "cup"], 4, ["cup", "tea", "cup"]])


async def test_what_was_added_before_and_after_a_question_is_there_once() -> None:
    script = [*PUT, calls(call("reserve", "c1", thing="pot"), call("put", "c2", thing="jam")), "Done.", *LOOK]
    model = ScriptedModel(script=script)
    async with running_agent(Shop, model=model) as url, client_of(url) as client:
        first = await client.ask("Tea and a cup.")
        asked = await client.ask("Reserve a pot, and jam.", context_id=first.task["contextId"])
        ids = {"context_id": asked.task["contextId"], "task_id": asked.task["id"]}
        answered = await client.ask("Ada", **ids)
        await client.ask("What is there?", context_id=first.task["contextId"])
    assert (asked.states[-1], answered.states[-1]) == ("input_required", "completed")
    basket = "['tea', 'cup', 'pot for Ada', 'jam']"
    assert seen(model) == f"[{basket}, 3, ['tea', 'cup', 'jam']]"


class BusyShop(Shop):
    """One with nodes of its own before, beside and after the agent that add to the basket as well."""

    name = "busy-shop"

    async def graph(self, parts: GraphParts) -> StateGraph[Any, Any, Any, Any]:
        """A bag before, a leaflet beside, a bill after."""
        graph: StateGraph[Any, Any, Any, Any] = StateGraph(Basket, context_schema=AgentRequest)

        def adding(thing: str) -> Any:
            return lambda _: {"basket": [thing], "ever": [thing]}

        for thing in ("bag", "leaflet", "bill"):
            graph.add_node(thing, adding(thing))
        graph.add_node("agent", parts.agent)
        graph.add_edge(START, "bag")
        graph.add_edge("bag", "agent")
        graph.add_edge("bag", "leaflet")
        graph.add_edge(["agent", "leaflet"], "bill")
        graph.add_edge("bill", END)
        return graph


async def test_what_other_nodes_add_before_beside_and_after_the_agent_is_kept() -> None:
    model = ScriptedModel(script=[*PUT, *LOOK])
    async with running_agent(BusyShop, model=model) as url, client_of(url) as client:
        first = await client.ask("Tea and a cup.")
        await client.ask("What is there?", context_id=first.task["contextId"])
    assert seen(model) == str([["bag", "tea", "cup", "leaflet", "bill", "bag"], 6, ["tea", "cup"]])


class CheckingShop(Shop):
    """One in which the agent is two nodes, one after the other."""

    name = "checking-shop"

    async def graph(self, parts: GraphParts) -> StateGraph[Any, Any, Any, Any]:
        """The agent, and the agent once more."""
        graph = await super().graph(parts)
        graph.add_node("again", parts.agent)
        graph.edges.remove(("agent", END))
        graph.add_edge("agent", "again")
        return graph


async def test_an_agent_that_is_two_nodes_adds_each_thing_once() -> None:
    model = ScriptedModel(script=[*PUT, *PUT, *LOOK, "That is really all."])
    async with running_agent(CheckingShop, model=model) as url, client_of(url) as client:
        first = await client.ask("Tea and a cup, twice.")
        await client.ask("What is there?", context_id=first.task["contextId"])
    assert "[['tea', 'cup', 'tea', 'cup'], 4, ['cup', 'tea', 'cup']]" in str(model.requests[-1].messages)


class Heap(ContextState):
    """A key that is no reducer and adds all the same."""

    basket: Annotated[list[str], Topic(str, accumulate=True)]


class HeapShop(Shop):
    """One whose graphs cannot be joined."""

    name = "heap-shop"
    state_schema: ClassVar[type[Any] | None] = AgentState

    async def graph(self, parts: GraphParts) -> StateGraph[Any, Any, Any, Any]:
        """The agent alone."""
        return of_the_agent_alone(parts, Heap)


class SharedHeapShop(HeapShop):
    """One in which both graphs have the key."""

    name = "shared-heap-shop"
    state_schema: ClassVar[type[Any] | None] = Heap


@pytest.mark.parametrize(("agent", "refused"), [(HeapShop, False), (SharedHeapShop, True)])
async def test_a_key_of_both_graphs_that_cannot_be_joined_is_refused_at_the_start(
    agent: type[Shop], refused: bool, tmp_path: Any
) -> None:
    runtime = AgentRuntime(
        home=tmp_path,
        settings=AgentSettings.load({}),
        model=ScriptedModel(script=[]),
        checkpointer=InMemorySaver(),
    )
    if not refused:
        await agent(runtime).build()
        return
    with pytest.raises(SettingsError) as error:
        await agent(runtime).build()
    assert error.value.message.startswith(
        "The graph of the agent shared-heap-shop and parts.agent both have the key `basket`, a Topic, and each would add"
    )


class Maybe(ContextState):
    """A key whose type has no empty value, so that it is not there before it is first written."""

    best: NotRequired[Annotated[int | None, lambda kept, new: new if kept is None else max(kept, new)]]


class Auction(BaseLangGraphAgent):
    """One that keeps the best offer."""

    name = "auction"
    description = "Takes offers."
    state_schema: ClassVar[type[Any] | None] = Maybe

    @agent_tool()
    async def offer(self, price: int, runtime: ToolRuntime) -> Command[Any]:
        """Offer a price."""
        said = ToolMessage(f"It was {runtime.state.get('best')}.", tool_call_id=runtime.tool_call_id)
        return Command(update={"best": price, "messages": [said]})

    async def graph(self, parts: GraphParts) -> StateGraph[Any, Any, Any, Any]:
        """The agent alone."""
        return of_the_agent_alone(parts, Maybe)


async def test_a_key_that_was_never_written_takes_its_first_value_as_it_is() -> None:
    offers: list[Any] = [
        one for price in (-7, -9, -3) for one in (calls(call("offer", price=price)), "Noted.")
    ]
    model = ScriptedModel(script=offers)
    async with running_agent(Auction, model=model) as url, client_of(url) as client:
        first = await client.ask("An offer.")
        for _ in range(2):
            last = await client.ask("Another one.", context_id=first.task["contextId"])
    assert last.states[-1] == "completed"
    told = [str(m.content) for m in model.requests[-1].messages if isinstance(m, ToolMessage)]
    assert told == ["It was None.", "It was -7.", "It was -7."]
