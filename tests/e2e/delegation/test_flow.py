"""One delegated turn from the user's message to the stored answer, and which agents the model is offered for it."""

from __future__ import annotations

import asyncio

import pytest
from a2a.types.a2a_pb2 import GetTaskRequest, ListTasksRequest, TaskState
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.teams import results, team
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

ASKED = "What is a?"


async def test_a_turn_is_stored_analysed_delegated_answered_with_the_history_and_stored() -> None:
    analyses, analysed, executes, executed = (asyncio.Event() for _ in range(4))
    supervisor = [
        "Hello Ada.",
        ScriptedReply(tool_calls=[call("keys", request="Look up a.")], started=analyses, gate=analysed),
        "a is 1, Ada.",
    ]
    keys = [ScriptedReply(text="a is 1", started=executes, gate=executed)]
    async with team(supervisor, keys=keys) as it, connected(it.url) as client:
        first = await ask(client, "I am Ada.")
        asking = asyncio.create_task(ask(client, ASKED, context_id=first.context_id))
        await asyncio.wait_for(analyses.wait(), 60)
        (stored,) = (
            await client.list_tasks(ListTasksRequest(history_length=9, status=TaskState.TASK_STATE_WORKING))
        ).tasks
        assert [part.text for said in stored.history for part in said.parts] == [ASKED]
        assert it.models["keys"].requests == []
        analysed.set()
        await asyncio.wait_for(executes.wait(), 60)
        assert len(it.supervisor.requests) == 2, "the answer is not begun before the results are there"
        executed.set()
        answer = await asking
        kept = await client.get_task(GetTaskRequest(id=stored.id))
    analysis, synthesis = it.supervisor.requests[1:]
    history = [("human", "I am Ada."), ("ai", "Hello Ada."), ("human", ASKED)]
    assert [(m.type, m.content) for m in analysis.messages[1:]] == history
    assert [(m.type, m.content) for m in synthesis.messages[1:4]] == history
    assert results(it.supervisor) == ["a is 1"]
    assert answer.text == "a is 1, Ada."
    assert [part.text for each in kept.artifacts for part in each.parts if each.name == "response"] == [
        answer.text
    ]


async def test_what_an_agent_did_for_an_answer_stays_in_its_own_conversation() -> None:
    supervisor = [
        calls(call("keys", "c1", request="Look up a.")),
        "a is 1.",
        calls(call("keys", "c2", request="What is b?")),
        "b is 2.",
    ]
    keys = [calls(call("lookup", "k1", key="a")), "a is 1", "b is 2"]
    async with team(supervisor, keys=keys) as it, connected(it.url) as client:
        first = await ask(client, ASKED)
        await ask(client, "And b?", context_id=first.context_id)
    shown = [m for request in it.supervisor.requests for m in request.messages]
    assert {str(m.content) for m in shown if isinstance(m, ToolMessage)} == {"a is 1", "b is 2"}
    assert not any("the value of a" in str(m.content) or "lookup" in str(m) for m in shown)
    trace = it.models["keys"].requests[-1].messages[1:]
    assert [type(m) for m in trace] == [HumanMessage, AIMessage, ToolMessage, AIMessage, HumanMessage]
    assert trace[2].content == "the value of a"


def offered(model: ScriptedModel) -> list[set[str]]:
    """Names of the tools that the model was offered in each request."""
    return [{tool["function"]["name"] for tool in request.tools} for request in model.requests]


async def test_where_there_are_many_the_model_is_offered_the_agents_that_fit_and_those_that_were_used() -> (
    None
):
    supervisor = ["Which ones?", calls(call("words", request="Explain")), "So.", "Well.", "No."]
    one = {"SUB_AGENTS_SHOWN": "1"}
    async with (
        team(supervisor, environ=one, keys=[], words=["A word is a word."]) as it,
        connected(it.url) as client,
    ):
        first = await ask(client, "Please explain the words of the trade")
        await ask(client, "All of them.", context_id=first.context_id)
        await ask(client, "And the values by key?", context_id=first.context_id)
        await ask(client, "Look up values by key")
    words, keys = {"words"}, {"keys"}
    assert offered(it.supervisor) == [words, words, words, words, keys]
