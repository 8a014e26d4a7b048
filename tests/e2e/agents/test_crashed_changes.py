"""A turn that crashes after a change asks nobody to try again, and the model is told of the call at the next message."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langgraph.config import get_stream_writer
from langgraph.graph import START, StateGraph
from langgraph.types import Command

from tests.e2e.agents.peers import Answer, ask, connected
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.own.parts import GraphParts
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.a2a_common.graph.tools.boundary import LONGEST_SENTENCE
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.a2a_common.protocol.request import AgentRequest
from utils.context.state import ContextState
from utils.errors import UpstreamRefused
from utils.events import ArtifactAdded, DataPart
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

NOT_SENDABLE = ArtifactAdded([DataPart({"receipt": object()})], name="receipt")


class Payer(BaseLangGraphAgent):
    """Pays, and crashes its turn."""

    name = "payer"
    description = "Pays invoices."

    @agent_tool(examples=["Pay the invoice"])
    async def pay(self, what: str) -> str:
        """Pay, and crash the turn in the middle of it."""
        get_stream_writer()(NOT_SENDABLE)
        await asyncio.Event().wait()
        return what

    @agent_tool(approval="pay")
    async def pay_approved(self, what: str) -> str:
        """Pay once that is approved, and crash the turn."""
        return str(await self.pay.function(self, what))

    @agent_tool(read_only=True)
    async def look(self, what: str) -> str:
        """Look, and crash the turn."""
        get_stream_writer()(NOT_SENDABLE)
        await asyncio.Event().wait()
        return what

    @agent_tool()
    async def send(self, what: str) -> str:
        """Send something for ever."""
        await asyncio.Event().wait()
        return what

    @agent_tool()
    async def refused(self, what: str) -> str:
        """Be refused in words that are no whole characters."""
        raise UpstreamRefused(what and f"{what}: \udce9t\udce9")

    @agent_tool()
    async def keep(self, what: str, runtime: ToolRuntime) -> Command[Any]:
        """Pay, and keep what nothing can store."""
        said = ToolMessage(what, tool_call_id=runtime.tool_call_id)
        return Command(update={"messages": [said], "structured_response": lambda: what})


class PayerOfTwo(Payer):
    """Pays, and crashes its turn once something is being sent beside it."""

    name = "payer-of-two"

    def __init__(self, runtime: AgentRuntime) -> None:
        super().__init__(runtime)
        self._sends = asyncio.Event()

    @agent_tool()
    async def pay(self, what: str) -> str:
        """Pay, and crash the turn when the other call has begun."""
        await self._sends.wait()
        get_stream_writer()(NOT_SENDABLE)
        await asyncio.Event().wait()
        return what

    @agent_tool()
    async def send(self, what: str) -> str:
        """Send something for ever."""
        self._sends.set()
        await asyncio.Event().wait()
        return what


class Failing(Payer):
    """Pays, and fails in its own graph when that is done."""

    name = "failing-payer"

    @agent_tool()
    async def pay(self, what: str) -> str:
        """Pay."""
        return f"paid {what}"

    async def graph(self, parts: GraphParts) -> StateGraph[Any, Any, Any, Any]:
        async def after(state: ContextState) -> dict[str, Any]:
            raise RuntimeError("the node failed")

        graph = StateGraph(ContextState, context_schema=AgentRequest)
        graph.add_node("agent", parts.agent)
        graph.add_node("after", after)
        graph.add_edge(START, "agent")
        graph.add_edge("agent", "after")
        return graph


def error_of(answer: Answer) -> Any:
    assert answer.state == "failed"
    return answer.metadata(ERROR_EXTENSION)[0]


AFTER = "Internal error in the agent after it called {}: whether the change was made is unknown."
CUT = "The tool {} was cut off: whether it had its effect, or still has it later, is unknown."


async def test_a_turn_that_crashes_during_changes_names_them_and_the_model_reads_of_each_at_the_next_message() -> (
    None
):
    script = [calls(call("pay", "c0", what="7"), call("send", "c1", what="8")), "I shall look."]
    model = ScriptedModel(script=script)
    async with running_agent(PayerOfTwo, model=model) as url, connected(url) as client:
        crashed = await ask(client, "Pay.")
        await ask(client, "Again, please.", context_id=crashed.context_id)
    error = error_of(crashed)
    assert (error["code"], error["retryable"]) == ("unknown_outcome", False)
    assert AFTER.format("pay and send") in crashed.last_words
    assert "try again" not in crashed.last_words
    read = str(model.requests[-1].messages)
    assert CUT.format("pay") in read
    assert CUT.format("send") in read


async def test_so_does_one_that_crashes_after_an_approved_change() -> None:
    model = ScriptedModel(script=[calls(call("pay_approved", what="7"))])
    async with running_agent(Payer, model=model) as url, connected(url) as client:
        asked = await ask(client, "Pay.")
        crashed = await ask(
            client, "yes", task_id=asked.task_id, context_id=asked.context_id, nonce=asked.nonce
        )
    assert error_of(crashed)["code"] == "unknown_outcome"
    assert AFTER.format("pay_approved") in crashed.last_words


async def test_so_does_one_that_crashes_when_the_change_is_done() -> None:
    model = ScriptedModel(script=[calls(call("pay", what="7")), "Paid."])
    async with running_agent(Failing, model=model) as url, connected(url) as client:
        crashed = await ask(client, "Pay.")
    assert error_of(crashed)["code"] == "unknown_outcome"
    assert AFTER.format("pay") in crashed.last_words


async def test_one_that_crashes_while_it_only_reads_may_be_tried_again() -> None:
    model = ScriptedModel(script=[calls(call("look", what="7")), "Well."])
    async with running_agent(Payer, model=model) as url, connected(url) as client:
        crashed = await ask(client, "Look.")
        await ask(client, "Again, please.", context_id=crashed.context_id)
    assert error_of(crashed)["code"] == "internal_error"
    assert "Tool interrupted" in str(model.requests[-1].messages)


async def test_a_refusal_in_words_that_are_no_whole_characters_is_read_by_the_model() -> None:
    model = ScriptedModel(script=[calls(call("refused", what="The bank says")), "It was refused."])
    async with running_agent(Payer, model=model) as url, connected(url) as client:
        answer = await ask(client, "Pay.")
    assert answer.state == "completed"
    assert "The bank says: \ufffdt\ufffd" in str(model.requests[-1].messages)


async def test_a_result_that_nothing_can_store_is_told_to_the_model_and_may_not_be_tried_again() -> None:
    model = ScriptedModel(script=[calls(call("keep", what="7")), "I do not know."])
    async with running_agent(Payer, model=model) as url, connected(url) as client:
        answer = await ask(client, "Pay.")
    assert error_of(answer)["code"] == "unknown_outcome"
    assert "What the tool keep returned cannot be used" in str(model.requests[-1].messages)


async def test_a_refusal_without_words_says_so_and_one_of_too_many_is_shortened() -> None:
    script = [
        calls(call("refused", "c0", what=""), call("refused", "c1", what="z" * 3_000)),
        "It was refused.",
    ]
    model = ScriptedModel(script=script)
    async with running_agent(Payer, model=model) as url, connected(url) as client:
        await ask(client, "Pay.")
    results = [each.text for each in model.requests[-1].messages if isinstance(each, ToolMessage)]
    assert "The tool refused failed and gave no reason." in results[0]
    assert "z" * (LONGEST_SENTENCE - 1) + "…" in results[1]
    assert "z" * LONGEST_SENTENCE not in results[1]
