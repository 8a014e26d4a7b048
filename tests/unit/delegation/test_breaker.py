"""The circuit breaker and the line that it guards."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.clock import Clock
from utils.a2a_common.client.agents.bulkhead import Bulkhead
from utils.errors import DelegationFailed, SubAgentUnavailable
from utils.observability.metrics import process_metrics
from utils.resilience.breaker import Breaker


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


def test_the_pause_doubles_with_each_try_that_fails_and_a_success_makes_it_short_again() -> None:
    clock = Clock()
    breaker = Breaker(1, 2.0, clock, longest=30.0)
    breaker.failed()
    pauses = []
    for _ in range(6):
        pauses.append(breaker.wait_seconds)
        assert not breaker.admits()
        clock.now += pauses[-1]
        assert breaker.admits()
        breaker.failed()
    assert pauses == [2, 4, 8, 16, 30, 30]
    clock.now += 30
    assert breaker.admits()
    breaker.succeeded()
    breaker.failed()
    assert breaker.wait_seconds == 2


def test_an_agent_that_was_seen_up_after_a_long_outage_is_not_left_alone_for_long() -> None:
    clock = Clock()
    breaker = Breaker(1, 2.0, clock, longest=30.0)
    for _ in range(5):
        breaker.failed()
        clock.now += breaker.wait_seconds
        assert breaker.admits()
    breaker.try_now()
    breaker.failed()
    assert breaker.wait_seconds == 2


def test_a_try_that_was_stopped_lets_the_next_one_through() -> None:
    clock = Clock()
    breaker = tripped(clock)
    clock.now += 30
    assert breaker.admits()
    breaker.gave_up()
    assert breaker.admits()


def test_an_agent_that_was_seen_up_is_there_for_all_until_the_first_failure() -> None:
    breaker = tripped(Clock())
    breaker.try_now()
    assert [breaker.admits() for _ in range(3)] == [True] * 3
    breaker.failed()
    assert not breaker.admits()


def test_an_agent_that_was_seen_up_while_it_was_tried_is_there_for_all() -> None:
    clock = Clock()
    breaker = tripped(clock)
    clock.now += 30
    assert breaker.admits()
    breaker.try_now()
    assert breaker.admits()


async def test_a_failure_that_began_before_the_agent_came_back_does_not_count() -> None:
    breaker = tripped(Clock())
    line, failing, begun = Bulkhead("github", breaker), asyncio.Event(), asyncio.Semaphore(0)

    async def remote_call() -> None:
        async with line.slot(1.0):
            begun.release()
            await failing.wait()
            raise SubAgentUnavailable("The line broke.")

    line.try_now()
    old = [asyncio.create_task(remote_call()) for _ in range(3)]
    for _ in old:
        await begun.acquire()
    line.try_now()
    failing.set()
    await asyncio.gather(*old, return_exceptions=True)
    assert not breaker.is_open
    with pytest.raises(SubAgentUnavailable):
        await remote_call()
    assert breaker.is_open


async def test_an_open_breaker_is_an_answer_that_a_model_can_work_with() -> None:
    line = Bulkhead("github", tripped(Clock()))
    with pytest.raises(
        SubAgentUnavailable, match=r"github agent has been unavailable since \d\d:\d\d:\d\d UTC"
    ) as raised:
        async with line.slot(1.0):
            pytest.fail("nothing is sent to an agent that is down")
    assert "Go on without it" in raised.value.advice
    assert "Go on without it" not in raised.value.message


async def rounds(number: int) -> None:
    """Let everything that is ready run, so many times."""
    for _ in range(number):
        await asyncio.sleep(0)


@pytest.mark.parametrize("later", range(4))
async def test_a_call_that_is_canceled_as_its_place_becomes_free_ends_and_the_next_has_the_place(
    later: int,
) -> None:
    line, over = Bulkhead("github", most=1), asyncio.Event()

    async def remote_call(until: asyncio.Event) -> None:
        async with line.slot(5.0):
            await until.wait()

    first = asyncio.create_task(remote_call(over))
    waiting = asyncio.create_task(remote_call(asyncio.Event()))
    await rounds(5)
    over.set()
    await rounds(1 + later)
    waiting.cancel()
    _, still_there = await asyncio.wait([waiting], timeout=60)
    assert not still_there
    assert waiting.cancelled()
    await first
    await remote_call(over)


async def test_who_watches_the_agent_is_told_of_each_call_that_did_not_reach_it() -> None:
    told: list[str] = []
    line = Bulkhead("github", on_failure=told.append)
    for error in (SubAgentUnavailable("Gone."), DelegationFailed("Late.", code="deadline_exceeded")):
        with pytest.raises(DelegationFailed):
            async with line.slot(1.0):
                raise error
    with pytest.raises(DelegationFailed):
        async with line.slot(1.0):
            raise DelegationFailed("No such repository.", code="upstream_refused")
    assert told == ["github", "github"]


async def test_an_error_of_the_agents_own_does_not_open_it() -> None:
    breaker = Breaker(1)
    line = Bulkhead("github", breaker)
    with pytest.raises(DelegationFailed):
        async with line.slot(1.0):
            raise DelegationFailed("No such repository.", code="upstream_refused")
    assert not breaker.is_open


async def test_calls_that_come_to_their_deadline_do_not_open_it_while_the_agent_is_seen_up() -> None:
    breaker, up, told = Breaker(2), [True], list[str]()
    line = Bulkhead("github", breaker, on_failure=told.append, reachable=lambda: up[0])

    async def late() -> None:
        with pytest.raises(DelegationFailed):
            async with line.slot(1.0):
                raise DelegationFailed("Late.", code="deadline_exceeded")

    for _ in range(5):
        await late()
    assert not breaker.is_open
    assert told == ["github"] * 5  # it is looked at, at once
    up[0] = False
    for _ in range(2):
        await late()
    assert breaker.is_open


async def test_an_agent_that_is_busy_has_not_failed() -> None:
    breaker = Breaker(1)
    line = Bulkhead("github", breaker)
    with pytest.raises(DelegationFailed):
        async with line.slot(1.0):
            raise DelegationFailed("The github agent is busy.", code="sub_agent_busy", retryable=True)
    assert not breaker.is_open


async def test_an_agent_that_is_full_refuses_in_time_and_takes_the_next_when_there_is_room() -> None:
    line = Bulkhead("slow", most=1)
    done = asyncio.Event()

    async def hold() -> None:
        async with line.slot(1.0):
            await done.wait()

    holding = asyncio.create_task(hold())
    await asyncio.sleep(0)
    with pytest.raises(SubAgentUnavailable, match="busy"):
        async with line.slot(0.01):
            pytest.fail("there is no room")
    done.set()
    await holding
    async with line.slot(0.01):
        pass


def shown() -> dict[str, float | None]:
    labels = [{"agent": "shown", "state": state} for state in ("closed", "half_open", "open")]
    registry = process_metrics().registry
    return {
        each["state"]: registry.get_sample_value("platform_engineer_breaker_state", each) for each in labels
    }


async def test_the_state_of_the_breaker_is_shown_as_a_metric() -> None:
    clock = Clock()
    line = Bulkhead("shown", tripped(clock))
    with pytest.raises(SubAgentUnavailable):
        async with line.slot(1.0):
            pytest.fail("nothing is sent to an agent that is down")
    assert shown() == {"closed": 0, "half_open": 0, "open": 1}
    clock.now += 30
    async with line.slot(1.0):
        assert shown() == {"closed": 0, "half_open": 1, "open": 0}
    assert shown() == {"closed": 1, "half_open": 0, "open": 0}
