"""A cancel or another subject stops everything below, to any depth."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from a2a.types.a2a_pb2 import CancelTaskRequest, ListTasksRequest, TaskState
from starlette.requests import Request
from starlette.responses import Response

from tests.e2e.agents.peers import Answer, Keys, ask, connected, message
from tests.e2e.delegation.hostile import TASK, Body, Hostile, hostile
from tests.e2e.delegation.teams import Middle, model, results, supervising, team
from tests.e2e.delegation.test_words_of_failures import works
from tests.support.passing_time import pass_seconds
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

ASKS = [calls(call("where")), "Found 3 places."]


async def test_a_cancel_at_the_top_stops_three_levels_before_it_is_answered() -> None:
    started, never = asyncio.Event(), asyncio.Event()
    keys = model([ScriptedReply(text="too late", started=started, gate=never), "and again"])
    middle = model([calls(call("keys", request="slow")), "never reached"])
    top = model([calls(call("middle", request="slow")), "never reached"])
    async with (
        running_agent(Keys, model=keys) as keys_url,
        supervising({"keys": keys_url}, middle, agent_class=Middle) as middle_url,
        supervising({"middle": middle_url}, top) as url,
        connected(url) as client,
        connected(middle_url) as at_middle,
        connected(keys_url) as at_keys,
    ):
        asking = asyncio.create_task(ask(client, "slow"))
        await asyncio.wait_for(started.wait(), 60)
        (parent,) = (await client.list_tasks(ListTasksRequest())).tasks
        await client.cancel_task(CancelTaskRequest(id=parent.id))
        calls_then = [len(each.requests) for each in (top, middle, keys)]
        tasks = [
            (await at.list_tasks(ListTasksRequest())).tasks[0].status.state
            for at in (client, at_middle, at_keys)
        ]
        never.set()
        answer = await asking
    assert answer.state == "canceled"
    assert tasks == [TaskState.TASK_STATE_CANCELED] * 3
    assert calls_then == [len(each.requests) for each in (top, middle, keys)] == [1, 1, 1]


async def test_a_user_who_speaks_of_something_else_gets_that_and_nobody_waits_any_more() -> None:
    script = [
        calls(call("asker", "c1", request="Find places")),
        calls(call("keys", "c2", request="What is a?")),
        "a is 1.",
    ]
    async with team(script, asker=ASKS, keys=["a is 1"]) as it, connected(it.url) as client:
        asked = await ask(client, "Find places near me")
        answer = await ask(client, "Never mind, what is the value of a?", task_id=asked.task_id)
        tasks = await it.tasks("asker")
    assert asked.state == "input_required"
    assert (answer.state, answer.text) == ("completed", "a is 1.")
    assert tasks[0].status.state == TaskState.TASK_STATE_CANCELED
    assert len(it.models["asker"].requests) == 1
    shown = [str(m.content) for m in it.supervisor.requests[1].messages if m.type == "human"]
    assert shown == ["Find places near me", "Never mind, what is the value of a?"]
    assert results(it.supervisor)[-1] == "a is 1"


class GoesAway(Hostile):
    """An agent that cannot be asked any more once its task has begun, until it is back; the stream of the task stays open."""

    gone = False

    async def show(self, request: Request) -> Response:
        return Response(status_code=503) if self.gone else await super().show(request)

    async def rpc(self, request: Request) -> Response:
        return Response(status_code=503) if self.gone else await super().rpc(request)


async def test_a_task_that_was_given_up_while_its_agent_was_away_is_canceled_once_that_is_back() -> None:
    async def begun(agent: Any) -> Body:
        agent.gone = True
        yield agent.event({"task": TASK})
        await asyncio.Event().wait()

    settings = {"SUB_AGENT_REFRESH_SECONDS": "0.05", "SUB_AGENT_TIMEOUT_SECONDS": "30"}
    answer = Answer()
    async with (
        asyncio.timeout(120),
        hostile(begun, made=GoesAway) as agent,
        supervising({"odd": agent.url}, model([calls(call("odd", request="Dig"))]), settings) as url,
        connected(url) as client,
    ):
        async for event in client.send_message(message("Dig")):
            answer.events.append(event)
            if works(event):
                pass_seconds(30)
        assert answer.state == "failed"
        assert not agent.canceled.is_set()
        agent.gone = False  # type: ignore[attr-defined]
        await agent.canceled.wait()
