"""The circuit breaker and the line that it guards."""

from __future__ import annotations

import asyncio

import pytest

from utils.a2a_common.agent_line import AgentLine
from utils.errors import DelegationFailed, SubAgentUnavailable
from utils.resilience.breaker import Breaker


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def tripped(clock: Clock) -> Breaker:
    breaker = Breaker(3, 30.0, clock)
    for _ in range(3):
        assert breaker.admits()
        breaker.failed()
        clock.now += 1
    return breaker


def test_three_failures_in_a_row_open_it_and_a_success_between_does_not() -> None:
    clock = Clock()
    breaker = Breaker(3, 30.0, clock)
    for ending in (breaker.failed, breaker.failed, breaker.succeeded, breaker.failed, breaker.failed):
        assert breaker.admits()
        ending()
    assert breaker.admits()
    breaker.failed()
    assert not breaker.admits()


def test_after_the_pause_one_try_is_let_through_and_decides() -> None:
    clock = Clock()
    breaker = tripped(clock)
    assert not breaker.admits()
    clock.now += 30
    assert breaker.admits()
    assert not breaker.admits()  # one at a time
    breaker.failed()
    assert not breaker.admits()  # open for another pause
    clock.now += 30
    assert breaker.admits()
    breaker.succeeded()
    assert breaker.admits()
    assert not breaker.is_open


def test_a_try_that_was_stopped_lets_the_next_one_through() -> None:
    clock = Clock()
    breaker = tripped(clock)
    clock.now += 30
    assert breaker.admits()
    breaker.gave_up()
    assert breaker.admits()


def test_an_agent_that_was_seen_up_is_tried_at_once() -> None:
    breaker = tripped(Clock())
    breaker.try_now()
    assert breaker.admits()


async def test_an_open_breaker_is_an_answer_that_a_model_can_work_with() -> None:
    line = AgentLine("github", tripped(Clock()))
    with pytest.raises(SubAgentUnavailable, match=r"github agent is unavailable since \d\d:\d\d:\d\d UTC"):
        async with line.errand(1.0):
            pytest.fail("nothing is sent to an agent that is down")


async def test_an_error_of_the_agents_own_does_not_open_it() -> None:
    breaker = Breaker(1)
    line = AgentLine("github", breaker)
    with pytest.raises(DelegationFailed):
        async with line.errand(1.0):
            raise DelegationFailed("No such repository.", code="upstream_refused")
    assert not breaker.is_open


async def test_an_agent_that_is_full_refuses_in_time_and_takes_the_next_when_there_is_room() -> None:
    line = AgentLine("slow", most=1)
    done = asyncio.Event()

    async def hold() -> None:
        async with line.errand(1.0):
            await done.wait()

    holding = asyncio.create_task(hold())
    await asyncio.sleep(0)
    with pytest.raises(SubAgentUnavailable, match="busy"):
        async with line.errand(0.01):
            pytest.fail("there is no room")
    done.set()
    await holding
    async with line.errand(0.01):
        pass
