"""What an agent is told of a turn that goes on after its process ended."""

from __future__ import annotations

import time
from dataclasses import replace

from a2a.types.a2a_pb2 import Task, TaskState, TaskStatus

from tests.unit.engine.turns import CALL, turn
from utils.a2a_common.engine.turn_runner import TurnContext
from utils.a2a_common.execution.request_parser import agent_request
from utils.timing import Deadline


def working(*message_ids: str) -> Task:
    task = Task(id="a", context_id="c", status=TaskStatus(state=TaskState.TASK_STATE_WORKING))
    for message_id in message_ids:
        task.history.add(message_id=message_id)
    return task


async def test_a_resumed_turn_is_recovered_and_shares_the_sign_that_it_is_suspended() -> None:
    context = TurnContext(turn("a"), None, working("m-a"), resumed=True)
    request = agent_request(context, "agent")
    assert (request.recovered, request.resumes) == (True, False)
    context.suspended.set()
    assert request.suspended.is_set()
    assert not agent_request(TurnContext(turn("a"), CALL, None, resumed=False), "agent").recovered


async def test_a_resumed_answer_is_still_an_answer_though_its_task_works_already() -> None:
    answer = turn("a", message_id="m-2")
    assert agent_request(TurnContext(answer, None, working("m-1", "m-2"), resumed=True), "agent").resumes


async def test_the_time_that_is_left_is_counted_by_the_wall_clock() -> None:
    late = replace(turn("a"), deadline=time.time() + 100)
    request = agent_request(TurnContext(late, None, None, resumed=True), "agent")
    assert 90 < Deadline(request.deadline).left <= 100
    over = replace(turn("a"), deadline=time.time() - 100)
    assert Deadline(agent_request(TurnContext(over, None, None, resumed=True), "agent").deadline).left == 0
    assert agent_request(TurnContext(turn("a"), None, None, resumed=True), "agent").deadline is None
