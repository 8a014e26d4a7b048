"""A message whose kind a model has to judge, while the question is answered by another message."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from a2a.types.a2a_pb2 import TaskState
from langchain_core.messages import BaseMessage

from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.delegation.teams import Asker, Team, model, supervising
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedReply, call, calls
from utils.testing.strict_provider import Call, ChatRequest, Reply, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

ISSUES = "Please show all the open issues of our webshop repository"


class Brain:
    """The supervisor's model, in a thread of its own. It judges a reply when it is let."""

    def __init__(self) -> None:
        self.judging, self.let = threading.Event(), threading.Event()

    async def __call__(self, request: ChatRequest) -> Reply:
        last = request.messages[-1]
        if request.tools and request.tools[0].name == "classify_reply":
            self.judging.set()
            await asyncio.to_thread(self.let.wait, 60)
            return Reply("", [Call("v1", "classify_reply", {"kind": "new"})])
        if last.role == "tool":
            return Reply(f"It is done: {last.text}")
        if "hotel" in last.text:
            return Reply("", [Call("c1", "asker", {"request": "A hotel"})])
        return Reply("Here are the issues.")


async def test_a_message_that_turns_out_to_be_another_request_leaves_work_alone_that_began_meanwhile() -> (
    None
):
    brain, booking, book = Brain(), asyncio.Event(), asyncio.Event()

    def asking(messages: Sequence[BaseMessage]) -> Any:
        if messages[-1].type == "tool":
            return ScriptedReply(text=f"Booked. {messages[-1].text}", started=booking, gate=book)
        return calls(call("where"))

    with run_strict_provider(brain) as provider:
        async with (
            running_agent(Asker, model=model(asking)) as asker,
            supervising({"asker": asker}, None, provider.environment("openai")) as url,
            connected(url) as client,
            connected(url) as elsewhere,
        ):
            waits = await ask(client, "Find a hotel")
            other = asyncio.create_task(ask(elsewhere, ISSUES, context_id=waits.context_id))
            assert await asyncio.to_thread(brain.judging.wait, 60)
            answer = asyncio.create_task(ask(client, "Rome", task_id=waits.task_id))
            await asyncio.wait_for(booking.wait(), 60)
            brain.let.set()
            await until_known(Team(url, {}, {"supervisor": url}), 2)
            book.set()
            booked, issues = await asyncio.gather(answer, other)
            below = [each.status.state for each in await Team("", {}, {"asker": asker}).tasks("asker")]
    assert waits.state == "input_required"
    assert said(booked) == ("completed", "It is done: Booked. The user said Rome")
    assert said(issues) == ("completed", "Here are the issues.")
    assert below == [TaskState.TASK_STATE_COMPLETED]


async def until_known(supervisor: Team, count: int) -> None:
    """Wait until the supervisor has so many tasks."""
    async with asyncio.timeout(60):
        while len(await supervisor.tasks("supervisor")) < count:
            await asyncio.sleep(0.02)


def said(answer: Answer) -> tuple[str, str]:
    return answer.state, answer.text
