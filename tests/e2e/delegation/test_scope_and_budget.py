"""What a sub-agent is told, what a task costs, and where its budget ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from a2a.types.a2a_pb2 import SendMessageRequest
from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, tool

from tests.e2e.agents.peers import Answer, Keys, ask, connected, message
from tests.e2e.delegation.teams import model, supervising, team
from utils.a2a_common.protocol.delegation_context import (
    DelegationContext,
    reference_of,
)
from utils.a2a_common.protocol.extensions import BUDGET_EXTENSION, USAGE_EXTENSION
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import Usage
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

seen: list[DelegationContext] = []


@tool
async def read_scope(runtime: ToolRuntime[AgentRequest]) -> str:
    """Reads what the delegating agent told."""
    scope = runtime.context.delegation
    assert scope is not None
    seen.append(scope)
    return "read"


class Reader(Keys):
    """An agent whose tool reads the scope of its task."""

    name = "reader"

    async def tools(self) -> Sequence[BaseTool]:
        return [read_scope]


async def test_a_sub_agents_tool_reads_the_request_the_results_and_the_history() -> None:
    seen.clear()
    reads = [calls(call("read_scope")), "read it"]
    script = [
        "Hello Ada.",
        calls(call("keys", "c1", request="What is a?")),
        calls(call("reader", "c2", request="Read this"), call("keys", "c3", request="And b?")),
        "Done.",
    ]
    async with (
        running_agent(Keys, model=model(["a is 1", "b is 2"])) as keys,
        running_agent(Reader, model=(reader := model(reads))) as reader_url,
        supervising(
            {"keys": keys, "reader": reader_url}, model(script), {"SUB_AGENTS_SHARES": "reader=results"}
        ) as url,
        connected(url) as client,
    ):
        first = await ask(client, "I am Ada. " + "x" * 300)
        second = await ask(client, "Look at a, then read", context_id=first.context_id)
    (scope,) = seen
    assert scope.original_request == "Look at a, then read"
    assert (scope.subtask_index, scope.total_subtasks) == (1, 2)
    assert scope.parent_task_id == reference_of(second.task_id) != second.task_id
    assert [(r.task, r.result, r.agent) for r in scope.previous_results] == [("What is a?", "a is 1", "keys")]
    assert scope.previous_results[0].timestamp > 1_700_000_000
    assert [(r.role, len(r.content)) for r in scope.conversation_history] == [
        ("user", 200),
        ("assistant", 10),
    ]
    times = [remark.timestamp for remark in scope.conversation_history]
    assert 1_700_000_000 < times[0] <= times[1] <= scope.previous_results[0].timestamp
    shown: Any = reader.requests[0].messages
    assert "original request" not in str(shown[0].content)  # what changes stands behind what does not
    ((words, told),) = [m.content for m in shown[1:]]  # none of the parent's messages
    assert words["text"] == "Read this"
    assert 'original request: "Look at a, then read"' in told["text"]


async def test_no_history_is_told_where_the_setting_says_so() -> None:
    seen.clear()
    script = ["Hello.", calls(call("reader", request="Read")), "Done."]
    async with (
        running_agent(Reader, model=model([calls(call("read_scope")), "read"])) as reader,
        supervising(
            {"reader": reader},
            model(script),
            {"SUB_AGENT_HISTORY_TURNS": "0", "SUB_AGENTS_SHARES": "reader=results"},
        ) as url,
        connected(url) as client,
    ):
        first = await ask(client, "I am Ada.")
        await ask(client, "Read", context_id=first.context_id)
    assert seen[0].conversation_history == []


def using(tokens: int, *tool_calls: Any, text: str = "") -> ScriptedReply:
    return ScriptedReply(text=text, tool_calls=tool_calls, usage=Usage(tokens, 0))


async def test_tokens_and_cost_roll_up_over_questions_and_levels() -> None:
    prices = {"LLM_MODEL": "house-model", "MODEL_PRICES": "house-model=1/10/0.5"}
    script = [
        ScriptedReply(tool_calls=[call("asker", request="Places")], usage=Usage(1000, 100, 500)),
        using(2000, text="Done."),
    ]
    asker = [using(10, call("where")), using(20, text="Found.")]
    async with team(script, environ=prices, asker=asker) as it, connected(it.url) as client:
        asked = await ask(client, "Places")
        answer = await ask(client, "Newark", task_id=asked.task_id)
    usage = answer.metadata(USAGE_EXTENSION)[-1]
    assert usage["platform-engineer"]["input_tokens"] == 3000
    assert usage["platform-engineer"]["cost_usd"] == pytest.approx((500 + 250 + 1000 + 2000) / 1e6)
    assert usage["asker"] == {"input_tokens": 30, "output_tokens": 0, "cached_tokens": 0}


def with_budget(text: str, **budget: float) -> SendMessageRequest:
    request = message(text)
    request.message.metadata.update({BUDGET_EXTENSION: budget})
    return request


async def send(url: str, request: SendMessageRequest) -> Answer:
    async with connected(url) as client:
        return Answer([event async for event in client.send_message(request)])


async def test_a_budget_of_a_caller_ends_in_a_partial_answer() -> None:
    script = [using(600, call("keys", "c1", request="a")), using(600, call("keys", "c2", request="b"))]
    async with team(script, keys=["a is 1", "b is 2"]) as it:
        answer = await send(it.url, with_budget("both", tokens=1000))
    assert answer.state == "completed"
    assert answer.text.startswith("I stopped because the budget of 1000 tokens for this task is used up.")
    assert "a is 1" in answer.text
    assert "b is 2" in answer.text
    assert len(it.supervisor.requests) == 2


async def test_the_model_is_asked_to_come_to_an_end_with_its_last_step() -> None:
    script = [calls(call("keys", request="a")), "a is 1; b is missing."]
    two = {"TASK_BUDGET_STEPS": "2"}
    async with team(script, environ=two, keys=["a is 1"]) as it, connected(it.url) as client:
        answer = await ask(client, "both")
    assert answer.text == "a is 1; b is missing."
    shown = [str(request.messages[0].content) for request in it.supervisor.requests]
    assert ["nearly used up" in system for system in shown] == [False, True]


async def test_what_is_left_travels_to_sub_agents_and_what_they_use_counts() -> None:
    script = [using(100, call("keys", request="a")), "never reached"]
    keys = [using(2000, call("lookup", key="a")), "never reached"]
    async with team(script, keys=keys) as it:
        answer = await send(it.url, with_budget("a", tokens=1000))
    assert answer.state == "completed"
    assert "the value of a" in answer.text  # the agent's partial answer, through ours
    assert len(it.models["keys"].requests) == 1
    assert len(it.supervisor.requests) == 1
