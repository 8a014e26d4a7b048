"""An agent with state of its own: tools keep it over turns, and changes of one key at once end the turn with a sentence."""

from __future__ import annotations

from typing import Any, NotRequired

from langchain.agents import AgentState
from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langgraph.graph import StateGraph
from langgraph.types import Command

from tests.support.graphs import of_the_agent_alone
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.own.parts import GraphParts
from utils.a2a_common.graph.questions.asked_by_tools import ask_user
from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.context.state import ContextState
from utils.testing.contract.client import client_of
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls


class Basket(AgentState[Any]):
    """What was put aside."""

    basket: NotRequired[list[str]]


class Shop(BaseLangGraphAgent):
    """An agent with state of its own."""

    name = "shop"
    description = "Sells things."
    state_schema = Basket

    @agent_tool()
    async def put(self, thing: str, runtime: ToolRuntime) -> Command[Any]:
        """Put a thing into the basket."""
        kept = [*runtime.state.get("basket", ()), thing]
        said = ToolMessage(f"{len(kept)} in the basket", tool_call_id=runtime.tool_call_id)
        return Command(update={"basket": kept, "messages": [said]})


async def test_a_tool_keeps_state_of_its_own_over_turns() -> None:
    model = ScriptedModel(
        script=[calls(call("put", thing="tea")), "Done.", calls(call("put", thing="cup")), "Done."]
    )
    async with running_agent(Shop, model=model) as url, client_of(url) as client:
        first = await client.ask("Tea, please.")
        await client.ask("And a cup.", context_id=first.task["contextId"])
    assert "2 in the basket" in str(model.requests[-1].messages)


class AskingShop(Shop):
    """One that asks before it puts something aside."""

    name = "asking-shop"

    @agent_tool()
    async def reserve(self, thing: str, runtime: ToolRuntime) -> Command[Any]:
        """Put a thing into the basket, once the user says for whom."""
        ask_user("For whom?")
        said = ToolMessage("Reserved.", tool_call_id=runtime.tool_call_id)
        return Command(update={"basket": [thing], "messages": [said]})


def both(*things: str) -> ScriptedReply:
    """One reply with a call for each thing."""
    return calls(*(call("put", f"c{number}", thing=thing) for number, thing in enumerate(things)))


async def test_two_changes_of_a_key_without_a_reducer_in_one_reply_are_told_with_the_key_and_the_way_out() -> (
    None
):
    model = ScriptedModel(script=[both("tea", "cup"), calls(call("put", thing="tea")), "Done."])
    async with running_agent(Shop, model=model) as url, client_of(url) as client:
        first = await client.ask("Tea and a cup, please.")
        second = await client.ask("Only tea.", context_id=first.task["contextId"])
    assert (first.states[-1], second.states[-1]) == ("failed", "completed")
    status = first.events[-1]["statusUpdate"]
    told = status["status"]["message"]["parts"][0]["text"]
    assert status["metadata"][ERROR_EXTENSION]["code"] == "state_conflict"
    assert told.startswith("Several tools changed `basket` of this agent's state at once")
    assert "ask for one change at a time" in told
    assert "a reducer in `state_schema`" in told
    assert "2 in the basket" in str(model.requests[-1].messages)  # the last of the two was kept


async def test_such_changes_before_and_after_a_question_are_told_as_well() -> None:
    reply = calls(call("put", "c1", thing="tea"), call("reserve", "c2", thing="cup"))
    model = ScriptedModel(script=[reply, "Done."])
    async with running_agent(AskingShop, model=model) as url, client_of(url) as client:
        asked = await client.ask("Tea, and reserve a cup.")
        ids = {"context_id": asked.task["contextId"], "task_id": asked.task["id"]}
        answered = await client.ask("Ada", **ids)
        later = await client.ask("Hello", context_id=asked.task["contextId"])
    assert asked.states[-1] == "input_required"
    assert answered.events[-1]["statusUpdate"]["metadata"][ERROR_EXTENSION]["code"] == "state_conflict"
    assert later.states[-1] == "completed"


class OpenShop(Shop):
    """The same with a graph of its own."""

    name = "open-shop"

    async def graph(self, parts: GraphParts) -> StateGraph[Any, Any, Any, Any]:
        """The agent alone."""
        return of_the_agent_alone(parts, ContextState)


async def test_such_changes_inside_a_graph_of_its_own_are_told_as_well() -> None:
    model = ScriptedModel(script=[both("tea", "cup"), "Done."])
    async with running_agent(OpenShop, model=model) as url, client_of(url) as client:
        first = await client.ask("Tea and a cup, please.")
        second = await client.ask("Hello", context_id=first.task["contextId"])
    assert first.events[-1]["statusUpdate"]["metadata"][ERROR_EXTENSION]["code"] == "state_conflict"
    assert second.states[-1] == "completed"


class Careless(Shop):
    """One whose tools return what is no result of their call."""

    name = "careless-shop"

    @agent_tool()
    async def put_all(self, thing: str, runtime: ToolRuntime) -> Any:
        """Put a thing into the basket by a list of changes."""
        said = ToolMessage("Put.", tool_call_id=runtime.tool_call_id)
        return [Command(update={"basket": [thing]}), Command(update={"messages": [said]})]

    @agent_tool()
    async def tell(self, thing: str) -> ToolMessage:
        """Tell of a thing in a message for another call."""
        return ToolMessage(f"{thing} is sold out", tool_call_id="another")


async def test_a_list_of_changes_is_an_error_of_the_call_and_the_task_does_not_end_as_done() -> None:
    model = ScriptedModel(script=[calls(call("put_all", thing="tea")), "I do not know."])
    async with running_agent(Careless, model=model) as url, client_of(url) as client:
        answer = await client.ask("Tea, please.")
    assert answer.states[-1] == "failed"
    assert answer.events[-1]["statusUpdate"]["metadata"][ERROR_EXTENSION]["code"] == "unknown_outcome"
    assert "What the tool put_all returned cannot be used" in str(model.requests[-1].messages)


async def test_a_message_for_another_call_is_the_result_of_the_call_that_returned_it() -> None:
    model = ScriptedModel(script=[calls(call("tell", thing="tea")), "It is sold out."])
    async with running_agent(Careless, model=model) as url, client_of(url) as client:
        answer = await client.ask("Is there tea?")
    assert answer.states[-1] == "completed"
    assert "tea is sold out" in str(model.requests[-1].messages)
    assert "Tool interrupted" not in str(model.requests[-1].messages)
