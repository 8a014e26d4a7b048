"""The supervisor and its sub-agents over real A2A: one answer from several agents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from a2a.types.a2a_pb2 import GetTaskRequest, ListTasksRequest, TaskState
from langchain_core.messages import BaseMessage, ToolMessage

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys, Words, ask, connected
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, ERROR_EXTENSION, USAGE_EXTENSION
from utils.events import Usage
from utils.testing.live_agent import running_agent
from utils.testing.live_server import loopback_socket
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


@asynccontextmanager
async def team(
    supervisor: Sequence[Any], *, keys: Sequence[Any] = (), words: Sequence[Any] = ()
) -> AsyncIterator[tuple[str, dict[str, ScriptedModel], dict[str, str]]]:
    """A supervisor over two agents; yields its URL, the models and the agents' URLs."""
    models = {
        "supervisor": ScriptedModel(script=list(supervisor)),
        "keys": ScriptedModel(script=list(keys)),
        "words": ScriptedModel(script=list(words)),
    }
    async with AsyncExitStack() as stack:
        urls = {
            "keys": await stack.enter_async_context(running_agent(Keys, model=models["keys"])),
            "words": await stack.enter_async_context(running_agent(Words, model=models["words"])),
        }
        listed = ",".join(f"{name}={url}" for name, url in urls.items())
        supervisor_url = await stack.enter_async_context(
            running_agent(PlatformEngineer, environ={"SUB_AGENTS": listed}, model=models["supervisor"])
        )
        await until_ready(supervisor_url)
        yield supervisor_url, models, urls


async def until_ready(url: str) -> None:
    import httpx

    async with httpx.AsyncClient(trust_env=False) as http:
        async with asyncio.timeout(60):
            while (await http.get(f"{url}/readyz")).status_code != 200:
                await asyncio.sleep(0.02)


def results(model: ScriptedModel, request: int) -> list[str]:
    """What the tools had returned when the model was asked."""
    return [str(each.content) for each in model.requests[request].messages if isinstance(each, ToolMessage)]


async def test_a_sub_agents_final_artifact_is_material_and_the_supervisors_words_are_the_answer() -> None:
    script = [calls(call("keys", request="What is a?")), "In short: a is known."]
    keys = [calls(call("lookup", key="a")), "The value of a is the value of a."]
    async with team(script, keys=keys) as (url, models, _), connected(url) as client:
        answer = await ask(client, "Tell me about a")
    assert answer.text == "In short: a is known."
    assert not any("The value of a" in text for _, _, text in answer.chunks)  # not even for a moment
    assert answer.state == "completed"
    assert results(models["supervisor"], 1) == ["The value of a is the value of a."]


async def test_independent_sub_tasks_run_in_parallel_and_the_answer_uses_both() -> None:
    gate, first, second = asyncio.Event(), asyncio.Event(), asyncio.Event()
    both = calls(call("keys", "c1", request="What is a?"), call("words", "c2", request="Explain b"))
    async with (
        team(
            [both, "a is 1 and b is 2."],
            keys=[ScriptedReply(text="a is 1", started=first, gate=gate)],
            words=[ScriptedReply(text="b is 2", started=second, gate=gate)],
        ) as (url, models, _),
        connected(url) as client,
    ):
        asking = asyncio.create_task(ask(client, "a and b, please"))
        await asyncio.wait_for(asyncio.gather(first.wait(), second.wait()), 60)  # both at once
        gate.set()
        answer = await asking
    assert sorted(results(models["supervisor"], 1)) == ["a is 1", "b is 2"]
    assert answer.text == "a is 1 and b is 2."
    final = answer.plans[-1]
    assert [(step["agent"], step["status"], step["order"]) for step in final] == [
        ("keys", "completed", 1),
        ("words", "completed", 1),
    ]
    assert {step["status"] for step in answer.plans[0]} == {"pending"}


async def test_the_same_remote_conversation_is_used_by_every_delegation_of_a_context() -> None:
    script = [
        calls(call("keys", "c1", request="one")),
        "first",
        calls(call("keys", "c2", request="two")),
        "second",
    ]
    async with (
        team(script, keys=["first answer", "second answer"]) as (url, models, urls),
        connected(url) as client,
        connected(urls["keys"]) as keys,
    ):
        answer = await ask(client, "one")
        await ask(client, "two", context_id=answer.context_id)
        tasks = (await keys.list_tasks(ListTasksRequest())).tasks
    assert len({task.context_id for task in tasks}) == 1
    shown = [str(each.content) for each in models["keys"].requests[1].messages if each.type == "human"]
    assert shown == ["one", "two"]


async def test_message_ids_of_delegations_are_made_from_their_cause() -> None:
    same = [call("keys", "c1", request="again")]
    script = [calls(*same), "done", calls(*same), "done"]
    async with (
        team(script, keys=["x", "y"]) as (url, _, urls),
        connected(url) as client,
        connected(urls["keys"]) as keys,
    ):
        await ask(client, "again")
        await ask(client, "again")
        tasks = (await keys.list_tasks(ListTasksRequest(history_length=5))).tasks
    ids = {task.history[0].message_id for task in tasks}
    assert len(ids) == 2  # two parent tasks, so two messages
    assert all(len(each) == 36 and each[14] == "5" for each in ids)  # UUIDv5: derived, never random


async def test_two_delegations_to_the_same_agent_queue_and_both_answer() -> None:
    both = calls(call("keys", "c1", request="one"), call("keys", "c2", request="two"))
    async with team([both, "ok"], keys=["r1", "r2"]) as (url, models, _), connected(url) as client:
        answer = await ask(client, "both")
    assert answer.state == "completed"
    assert sorted(results(models["supervisor"], 1)) == ["r1", "r2"]


async def test_a_sub_agents_answer_that_quotes_an_error_is_an_answer() -> None:
    quoted = "The log says: Error: disk full ❌"
    script = [calls(call("keys", request="What does it say?")), "The disk is full."]
    async with team(script, keys=[quoted]) as (url, models, _), connected(url) as client:
        answer = await ask(client, "What does the log say?")
    assert results(models["supervisor"], 1) == [quoted]
    assert (answer.state, answer.text) == ("completed", "The disk is full.")
    assert answer.plans[-1][0]["status"] == "completed"


async def test_a_failed_sub_agent_is_never_read_as_success() -> None:
    script = [calls(call("keys", request="What is it?")), "It could not be looked up."]
    keys = [calls(call("lookup", key="down")), "The key service is down."]
    async with team(script, keys=keys) as (url, models, _), connected(url) as client:
        answer = await ask(client, "look it up")
    assert '"error":"upstream_unavailable"' in results(models["supervisor"], 1)[0]
    assert answer.state == "failed"
    assert answer.metadata(ERROR_EXTENSION)[0]["code"] == "upstream_unavailable"
    assert answer.plans[-1][0]["status"] == "failed"


async def test_a_failure_is_told_once_and_never_as_an_artifact_too() -> None:
    both = calls(call("keys", "c1", request="a"), call("words", "c2", request="b"))
    script = [both, _repeated]
    keys, words = [ScriptedReply(error=RuntimeError("boom"))], [ScriptedReply(error=RuntimeError("boom"))]
    async with team(script, keys=keys, words=words) as (url, _, _), connected(url) as client:
        answer = await ask(client, "both")
        task = await client.get_task(GetTaskRequest(id=answer.task_id))
    assert answer.state == "failed"
    assert answer.chunks == []
    assert not task.artifacts
    assert answer.last_words


def _repeated(messages: Sequence[BaseMessage]) -> str:
    """The sentences of the failed calls, and nothing else."""
    failed = [json.loads(str(each.content)) for each in messages if isinstance(each, ToolMessage)]
    return "\n\n".join(str(each["message"]) for each in failed)


async def test_what_was_held_back_of_a_failure_does_not_hide_a_later_answer() -> None:
    script = [
        calls(call("keys", "c1", request="a")),
        ScriptedReply(text="The keys are down; asking words.", tool_calls=[call("words", "c2", request="b")]),
        "b is 2.",
    ]
    keys = [ScriptedReply(error=RuntimeError("boom"))]
    async with team(script, keys=keys, words=["b is 2"]) as (url, _, _), connected(url) as client:
        answer = await ask(client, "a, else b")
    assert (answer.state, answer.text) == ("completed", "b is 2.")


async def test_one_broken_sub_agent_does_not_stop_the_others() -> None:
    both = calls(call("keys", "c1", request="a"), call("words", "c2", request="b"))
    script = [both, "b is 2; a could not be looked up."]
    keys = [ScriptedReply(error=RuntimeError("boom"))]
    async with team(script, keys=keys, words=["b is 2"]) as (url, _, _), connected(url) as client:
        answer = await ask(client, "both")
    assert answer.state == "completed"
    assert answer.text.startswith("b is 2")


async def test_the_usage_of_sub_agents_is_reported_under_their_names() -> None:
    script = [
        ScriptedReply(tool_calls=[call("keys", request="a")], usage=Usage(10, 1)),
        ScriptedReply(text="ok", usage=Usage(20, 2)),
    ]
    keys = [ScriptedReply(text="a", usage=Usage(5, 5))]
    async with team(script, keys=keys) as (url, _, _), connected(url) as client:
        answer = await ask(client, "a")
    usage = answer.metadata(USAGE_EXTENSION)[-1]
    assert usage["keys"]["input_tokens"] == 5
    assert usage["platform-engineer"]["input_tokens"] == 30


async def test_the_sub_agents_own_tools_are_seen_as_progress_of_the_delegation() -> None:
    script = [calls(call("keys", request="a")), "ok"]
    keys = [calls(call("lookup", key="a")), "value"]
    async with team(script, keys=keys) as (url, _, _), connected(url) as client:
        answer = await ask(client, "a")
    activity = answer.activity
    inner = [each["activity"]["kind"] for each in activity if each.get("activity")]
    assert inner == ["tool_started", "tool_finished"]
    (finished,) = [each for each in activity if each["kind"] == "delegation_finished"]
    assert finished["result"] == "value"
    assert {each["agent"] for each in activity if each["kind"].startswith("delegation")} == {"keys"}


async def test_a_delegation_is_told_from_its_start_to_its_end() -> None:
    script = [calls(call("keys", "c1", request="What is a?")), "ok"]
    async with (
        team(script, keys=["value"]) as (url, _, urls),
        connected(url) as client,
        connected(urls["keys"]) as keys,
    ):
        answer = await ask(client, "a")
        (remote,) = (await keys.list_tasks(ListTasksRequest())).tasks
    told = [e for e in answer.metadata(ACTIVITY_EXTENSION) if e["kind"].startswith("delegation")]
    assert {each["call_id"] for each in told} == {"c1"}
    assert (told[0]["kind"], told[0]["request"]) == ("delegation_started", "What is a?")
    assert (told[-1]["kind"], told[-1]["state"]) == ("delegation_finished", "completed")
    assert {each["remote_task_id"] for each in told[1:]} == {remote.id}
    assert told[-1]["seconds"] > 0


async def test_a_sub_agent_that_is_down_stops_nothing_and_one_that_comes_up_late_is_used() -> None:
    listener = loopback_socket()
    port = listener.getsockname()[1]
    listener.close()
    environ = {
        "SUB_AGENTS": f"keys=http://127.0.0.1:{port}",
        "SUB_AGENT_REFRESH_SECONDS": "0.2",
        "SUB_AGENT_WAIT_SECONDS": "0",
    }

    def brain(messages: Sequence[Any]) -> Any:
        if messages[-1].type == "tool":
            return f"From the agent: {messages[-1].content}"
        return calls(call("keys", request="a")) if "keys" in str(messages[0].content) else "No agents."

    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(
            running_agent(PlatformEngineer, environ=environ, model=ScriptedModel(script=brain))
        )
        client = await stack.enter_async_context(connected(url))
        await until_ready(url)
        assert (await ask(client, "a")).text == "No agents."
        late = loopback_socket(port)
        await stack.enter_async_context(
            running_agent(Keys, model=ScriptedModel(script=["late but here"]), listener=late)
        )
        async with asyncio.timeout(60):
            while (answer := await ask(client, "a")).text == "No agents.":
                await asyncio.sleep(0.05)
    assert answer.text == "From the agent: late but here"


async def test_a_canceled_delegation_leaves_no_sub_task_working() -> None:
    started, never = asyncio.Event(), asyncio.Event()
    script = [calls(call("keys", request="slow"))]
    keys = [ScriptedReply(text="late", started=started, gate=never)]
    async with (
        team(script, keys=keys) as (url, models, urls),
        connected(url) as client,
        connected(urls["keys"]) as sub,
    ):
        from a2a.types.a2a_pb2 import CancelTaskRequest

        asking = asyncio.create_task(ask(client, "slow"))
        await asyncio.wait_for(started.wait(), 60)
        parent = (await client.list_tasks(ListTasksRequest())).tasks[0]
        await client.cancel_task(CancelTaskRequest(id=parent.id))
        answer = await asking
        child = (await sub.list_tasks(ListTasksRequest())).tasks[0]
    assert answer.state == "canceled"
    assert child.status.state == TaskState.TASK_STATE_CANCELED
    assert len(models["supervisor"].requests) == 1
