"""What every queue of turns keeps, over PostgreSQL and over the tables in memory that schedules run on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import AbortJobRequested, Job
from procrastinate.manager import JobManager, NotificationCallback
from procrastinate.sql import queries

from tests.contract.queue.kinds import Replica, TablesOf, memory_tables, postgres_tables, replica, until
from tests.postgres import PostgresServer
from utils.a2a_common.engine.resilient_jobs import AGAIN_SECONDS, WAKE, ResilientJobManager
from utils.errors import Draining
from utils.persistence.runs import conversation_key

Pair = tuple[Replica, Replica]

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(
    params=[
        "memory",
        pytest.param("postgres", marks=[pytest.mark.servers, pytest.mark.xdist_group("postgres")]),
    ]
)
async def tables(request: pytest.FixtureRequest) -> AsyncIterator[TablesOf]:
    if request.param == "memory":
        async with memory_tables() as made:
            yield made
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    async with postgres_tables(server) as made:
        yield made


@pytest.fixture
async def pair(tables: TablesOf) -> AsyncIterator[Pair]:
    async with replica(tables) as first, replica(tables) as second:
        yield first, second


@pytest.fixture
async def mortal(tables: TablesOf) -> AsyncIterator[Pair]:
    """Two replicas that count as dead after two seconds."""
    async with replica(tables, takeover_seconds=1.0) as one, replica(tables, takeover_seconds=1.0) as two:
        yield one, two


def beats(replica: Replica, monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[None]:
    """The signs of life that a replica gives from now on."""
    manager: Any = replica.queue._manager
    beat, given = manager.update_heartbeat, asyncio.Queue[None]()

    async def noted(worker_id: int) -> None:
        await beat(worker_id)
        given.put_nowait(None)

    monkeypatch.setattr(manager, "update_heartbeat", noted)
    return given


def begun(pair: Pair) -> list[str]:
    return pair[0].begun + pair[1].begun


def where(pair: Pair, task_id: str) -> Replica:
    """The replica that runs a turn."""
    return next(each for each in pair if task_id in each.begun)


async def settled(pair: Pair) -> None:
    """Wait until nothing is in the queue."""
    for each in pair:
        each.go_on.set()
    async with asyncio.timeout(30):
        while await pair[0].queue.all_tasks():
            await asyncio.sleep(0.01)


async def test_turns_of_a_conversation_run_one_after_the_other_over_both_replicas(pair: Pair):
    for name in "abc":
        await pair[0].add(name, "x")
    await until(lambda: begun(pair))
    await asyncio.sleep(0)
    assert begun(pair) == ["a"]
    assert await pair[1].queue.waiting() == 2
    await settled(pair)
    assert sorted(begun(pair)) == ["a", "b", "c"]
    order = {turn.job_id: turn.task_id for each in pair for turn in each.ran}
    assert [order[number] for number in sorted(order)] == ["a", "b", "c"]


async def test_a_replica_that_is_not_fit_leaves_all_turns_to_the_other_until_it_is(tables: TablesOf):
    fit = [False]

    async def is_fit() -> bool:
        return fit[0]

    async with replica(tables, fit=is_fit) as first, replica(tables) as second:
        for name in "abcd":
            await first.add(name, name)
        await settled((first, second))
        assert (first.begun, sorted(second.begun)) == ([], ["a", "b", "c", "d"])
        second.go_on.clear()
        for name in "efg":
            await first.add(name, name)
        await until(lambda: len(second.begun) == 6)
        fit[0] = True
        await until(lambda: first.begun)


async def test_a_turn_that_was_begun_before_runs_before_those_that_wait(pair: Pair):
    await pair[0].add("a", "x")
    await until(lambda: begun(pair))
    await pair[0].add("later", "x")
    await pair[0].queue.restore("begun", "x")
    runner = where(pair, "a")
    runner.go_on.set()
    await until(lambda: len(begun(pair)) > 1)
    assert "begun" in begun(pair)
    assert [turn.goes_on for each in pair for turn in each.ran if turn.task_id == "begun"] == [True]
    await settled(pair)


async def test_a_task_has_one_waiting_turn_and_what_is_restored_twice_is_queued_once(pair: Pair):
    await pair[0].add("a", "x")
    await until(lambda: begun(pair))
    await pair[0].queue.restore("b", "x")
    await pair[1].queue.restore("b", "x")
    assert await pair[0].queue.all_tasks() == {"a", "b"}
    assert await pair[0].queue.waiting() == 1
    await settled(pair)
    assert sorted(begun(pair)) == ["a", "b"]


async def test_a_slot_tells_how_busy_the_replicas_are_and_whether_the_task_is(pair: Pair):
    await pair[0].add("a", "x")
    await until(lambda: begun(pair))
    async with pair[1].queue.slot("b", "x") as slot:
        load = slot.load
        assert ([each.running for each in load.loads], load.waiting, load.busy) == ([1], 0, True)
        assert load.places == 4
        assert not slot.task_busy
    async with pair[1].queue.slot("a", "y") as slot:
        assert slot.task_busy
        assert not slot.load.busy
    assert await pair[0].queue.all_tasks() == {"a"}
    await settled(pair)


async def test_a_slot_whose_block_fails_adds_nothing_and_lets_the_next_one_in(pair: Pair):
    async def fails() -> None:
        async with pair[0].queue.slot("a", "x") as slot:
            await slot.take(False)
            raise KeyError

    with pytest.raises(KeyError):
        await fails()
    assert await pair[0].queue.all_tasks() == set()
    await pair[1].add("b", "x")
    await settled(pair)
    assert begun(pair) == ["b"]


async def test_nobody_has_a_slot_while_another_one_holds_it(pair: Pair):
    async with pair[0].queue.slot("a", "x") as slot:
        waiting = asyncio.create_task(pair[1].add("b", "x"))
        await slot.take(False)
        assert await pair[0].queue.find("b") is None
        assert not waiting.done()
    await waiting
    assert await pair[0].queue.all_tasks() == {"a", "b"}
    await settled(pair)


async def test_turns_of_a_conversation_are_held_only_without_a_turn_and_without_a_slot_for_one(pair: Pair):
    async with pair[0].queue.hold_turns("x") as held:
        assert held
    async with pair[0].queue.slot("a", "x") as slot:
        async with pair[1].queue.hold_turns("x") as held:
            assert not held
        async with pair[1].queue.hold_turns("y") as held:
            assert held
        await slot.take(False)
    async with pair[1].queue.hold_turns("x") as held:
        assert not held
    await settled(pair)
    async with pair[1].queue.hold_turns("x") as held:
        assert held


async def test_one_at_a_time_holds_the_turns_of_a_conversation_also_within_a_replica(pair: Pair) -> None:
    async with pair[0].queue.hold_turns("x") as held:
        assert held
        for each in pair:
            async with each.queue.hold_turns("x") as again:
                assert not again
        async with pair[0].queue.hold_turns("x") as again:
            assert not again
    for each in pair:
        async with each.queue.hold_turns("x") as held:
            assert held


async def test_what_is_asked_of_a_long_line_is_answered_without_reading_its_turns(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    await pair[0].add("a", "x")
    await until(lambda: begun(pair))
    for number in range(20):
        await pair[0].add(f"b{number}", "x")
    connector = pair[0].queue._jobs.connector
    ask, read = connector.execute_query_all_async, []

    async def noted(query: str, **arguments: Any) -> Any:
        rows = await ask(query, **arguments)
        read.extend(rows)
        return rows

    monkeypatch.setattr(connector, "execute_query_all_async", noted)
    assert await pair[0].queue.waiting() == 20
    async with pair[0].queue.hold_turns("x") as held:
        assert not held
    assert await pair[0].queue.find("b7") is not None
    assert await pair[0].queue.find("c") is None
    assert len(read) <= 3
    read.clear()
    assert len(await pair[0].queue.all_tasks()) == 21
    assert {tuple(row) for row in read} == {("task_id",)}
    await settled(pair)


async def test_a_replica_hears_that_a_turn_has_ended_on_another_one(pair: Pair) -> None:
    await pair[0].add("a", "x")
    await until(lambda: begun(pair))
    runs = where(pair, "a")
    (other,) = (each for each in pair if each is not runs)
    hears, number = other.queue.next_change(), 0
    while not hears.is_set():  # it has begun to listen
        await pair[0].add(f"b{number}", f"y{number}")
        await asyncio.sleep(0)
        number += 1
    async with asyncio.timeout(30):
        while True:
            change = other.queue.next_change()
            runs.go_on.set()
            if await other.queue.find("a") is None:
                break
            await change.wait()
    await settled(pair)


async def test_a_turn_that_waits_is_withdrawn_and_one_that_runs_is_not(pair: Pair):
    await pair[0].add("a", "x")
    await until(lambda: begun(pair))
    await pair[0].add("b", "x")
    waits, runs = await pair[1].queue.find("b"), await pair[1].queue.find("a")
    assert waits is not None
    assert runs is not None
    assert (waits.runs, runs.runs) == (False, True)
    assert await pair[1].queue.withdraw(waits)
    assert not await pair[1].queue.withdraw(runs)
    assert not await pair[1].queue.withdraw(waits)
    await settled(pair)
    assert begun(pair) == ["a"]


async def test_a_turn_is_stopped_wherever_it_runs_and_told_why(pair: Pair):
    await pair[0].add("a", "x")
    await until(lambda: begun(pair))
    runner = where(pair, "a")
    other = pair[0] if runner is pair[1] else pair[1]
    running = await other.queue.find("a")
    assert running is not None
    await other.queue.abort(running)
    await until(lambda: runner.canceled)
    assert runner.canceled == [("a", True)]
    await settled(pair)


async def test_a_worker_that_ends_puts_back_what_it_runs_and_the_other_goes_on_with_it(pair: Pair):
    await pair[0].add("a", "x")
    await until(lambda: begun(pair))
    runner = where(pair, "a")
    other = pair[0] if runner is pair[1] else pair[1]
    await runner.queue.close()
    assert runner.canceled == [("a", False)]
    await until(lambda: other.ran)
    assert [(turn.task_id, turn.goes_on) for turn in other.ran] == [("a", True)]
    with pytest.raises(Draining):
        await runner.queue.find("a")
    other.go_on.set()


@pytest.mark.long
async def test_a_worker_that_stops_fetching_still_gives_signs_of_life_for_what_it_runs(
    mortal: Pair, monkeypatch: pytest.MonkeyPatch
):
    await mortal[0].add("a", "x")
    await until(lambda: begun(mortal))
    runner = where(mortal, "a")
    other = mortal[0] if runner is mortal[1] else mortal[1]
    runner.queue._grace = 60
    await runner.queue.stop_working()
    given = beats(runner, monkeypatch)
    async with other.queue.sweeping() as ours:
        assert ours
        for _ in range(3):  # longer than it may be silent
            await given.get()
        assert await other.queue.requeue_stalled() == []
    runner.go_on.set()
    await settled(mortal)


@pytest.mark.long
async def test_what_a_dead_worker_ran_is_queued_once_more_as_a_job_of_its_own(mortal: Pair, monkeypatch: Any):
    await mortal[0].add("a", "x")
    await until(lambda: begun(mortal))
    runner = where(mortal, "a")
    other = mortal[0] if runner is mortal[1] else mortal[1]
    manager: Any = runner.queue._manager
    monkeypatch.setattr(manager, "update_heartbeat", _silent)
    await asyncio.sleep(runner.queue.stalled_seconds + 1.5)
    async with other.queue.sweeping() as ours:
        assert ours
        async with runner.queue.sweeping() as theirs:
            assert not theirs
        assert await other.queue.requeue_stalled() == ["a"]
    await until(lambda: len(begun(mortal)) > 1)
    first, second = sorted(turn.job_id for each in mortal for turn in each.ran)
    assert first != second
    assert [turn.goes_on for each in mortal for turn in each.ran if turn.job_id == second] == [True]
    await settled(mortal)


async def _silent(*_: Any) -> None:
    """Give no sign of life."""


async def test_a_job_that_a_worker_never_heard_it_had_is_run_all_the_same(tables: TablesOf, monkeypatch: Any):
    async with replica(tables) as only:
        manager: Any = only.queue._manager
        connector, lost = manager.connector, list[Any]()
        ask = connector.execute_query_one_async

        async def loses(query: str, **arguments: Any) -> dict[str, Any]:
            row: dict[str, Any] = await ask(query, **arguments)
            if row.get("queue_name") and not lost:
                lost.append(row)
                raise ConnectorException
            return row

        monkeypatch.setattr(connector, "execute_query_one_async", loses)
        await only.add("a", "x")
        await until(lambda: only.ran)
        assert lost
        assert only.begun == ["a"]
        only.go_on.set()


async def test_a_job_that_was_put_back_is_left_to_the_replica_that_goes_on_with_it(
    tables: TablesOf, monkeypatch: Any
):
    """Its first worker cannot tell the others, and must not put it back again while another runs it."""
    async with replica(tables) as first:
        await first.add("a", "x")
        await until(lambda: first.ran)
        connector: Any = first.queue._manager.connector  # type: ignore[union-attr]
        tells, told = connector.execute_query_async, list[str]()

        async def loses(query: str, **arguments: Any) -> None:
            if query == WAKE and not told:
                told.append(query)
                await until(lambda: second.ran)
                raise ConnectorException
            await tells(query, **arguments)

        monkeypatch.setattr(connector, "execute_query_async", loses)
        async with replica(tables) as second:
            await first.queue.stop_working()
            await until(lambda: second.ran and told)
            await asyncio.sleep(1.5 * AGAIN_SECONDS)
            left = await second.queue.find("a")
            assert left is not None
            assert left.runs
            assert second.begun == ["a"]
            second.go_on.set()
        assert second.begun == ["a"]


async def test_a_worker_that_takes_a_job_again_does_not_put_it_back_for_an_answer_that_comes_late(
    tables: TablesOf, monkeypatch: Any
):
    """The answer that it was put back comes after the worker has fetched it once more."""
    async with replica(tables) as only:
        manager: Any = only.queue._manager
        connector, late, lost = manager.connector, asyncio.Event(), list[str]()
        one, none = connector.execute_query_one_async, connector.execute_query_async
        retry, fetch = queries["retry_job"], queries["fetch_job"]

        async def slow(query: str, **arguments: Any) -> None:
            await none(query, **arguments)
            if query == retry and not late.is_set():
                await late.wait()

        async def loses(query: str, **arguments: Any) -> dict[str, Any]:
            row: dict[str, Any] = await one(query, **arguments)
            if query == fetch and late.is_set() and not lost:
                lost.append(query)
                raise ConnectorException
            return row

        monkeypatch.setattr(connector, "execute_query_async", slow)
        monkeypatch.setattr(connector, "execute_query_one_async", loses)
        only.puts_back.add("a")
        await only.add("a", "x")
        await until(lambda: len(only.ran) == 2)
        late.set()
        await until(lambda: lost)
        await only.add("b", "y")
        await until(lambda: "b" in only.begun)
        assert only.begun == ["a", "a", "b"]
        only.go_on.set()


@pytest.mark.long
async def test_a_worker_goes_on_after_signs_of_life_and_looks_for_jobs_failed(
    tables: TablesOf, monkeypatch: Any
):
    async with replica(tables, takeover_seconds=1.0) as only:
        await only.add("a", "x")
        await until(lambda: only.ran)
        manager: Any = only.queue._manager
        fails, failed = {"on": True}, set[str]()
        for name in ("execute_query_async", "execute_query_one_async", "execute_query_all_async"):
            ask = _failing(getattr(manager.connector, name), fails, failed)
            monkeypatch.setattr(manager.connector, name, ask)
        await until(lambda: {queries["update_heartbeat"], queries["fetch_job"]} <= failed)
        fails["on"] = False
        await only.add("b", "y")
        await until(lambda: "b" in only.begun)
        assert only.canceled == []
        given = beats(only, monkeypatch)
        async with only.queue.sweeping():
            for _ in range(3):  # longer than it may be silent
                await given.get()
            assert await only.queue.requeue_stalled() == []
        only.go_on.set()


def _failing(ask: Any, fails: dict[str, bool], failed: set[str]) -> Any:
    async def asked(query: str, **arguments: Any) -> Any:
        if fails["on"]:
            failed.add(query)
            raise ConnectorException
        return await ask(query, **arguments)

    return asked


async def test_a_turn_that_is_aborted_before_its_first_step_leaves_the_queue(
    tables: TablesOf, monkeypatch: pytest.MonkeyPatch
):
    """A task of asyncio that is canceled before its first step does nothing, not even what it does at its end."""
    listen, fetch = JobManager.listen_for_jobs, ResilientJobManager.fetch_job
    heard: list[NotificationCallback] = []

    async def listens(jobs: JobManager, *, on_notification: NotificationCallback, **options: Any) -> None:
        heard.append(on_notification)
        await listen(jobs, on_notification=on_notification, **options)

    async def fetches(jobs: ResilientJobManager, *args: Any, **options: Any) -> Job | None:
        job = await fetch(jobs, *args, **options)
        if job is not None and job.id is not None and not told:
            await jobs.cancel_job_by_id_async(job.id, abort=True)
            asked = AbortJobRequested(type="abort_job_requested", job_id=job.id)
            told.append(asyncio.ensure_future(heard[0](channel="", notification=asked)))
        return job

    told: list[asyncio.Future[None]] = []
    monkeypatch.setattr(JobManager, "listen_for_jobs", listens)
    monkeypatch.setattr(ResilientJobManager, "fetch_job", fetches)
    async with replica(tables) as only:
        await only.add("a", "x")
        await until(lambda: told)
        async with asyncio.timeout(30):
            while await only.queue.all_tasks():
                await asyncio.sleep(0.01)
        assert only.canceled == [("a", True)]


def of(user: str, context: str) -> str:
    """A conversation of a user."""
    return conversation_key(json.dumps(["", user]), context)


async def test_the_places_of_both_replicas_are_shared_among_the_callers(tables: TablesOf):
    """Two callers whose turns do not end leave a place to a third one, who came last."""
    async with (
        replica(tables, fair=True, at_once=4) as first,
        replica(tables, fair=True, at_once=4) as second,
    ):
        both = (first, second)
        for number in range(8):
            for user in ("mallory", "eve"):
                await first.add(f"{user} {number}", of(user, str(number)))
        await until(lambda: len(begun(both)) >= 6)
        await first.add("ann", of("ann", "x\x00"))
        await until(lambda: "ann" in begun(both))
        await settled(both)
        assert len(begun(both)) == 17


async def test_a_shared_place_is_not_given_to_a_turn_whose_conversation_is_busy(tables: TablesOf):
    async with replica(tables, fair=True, at_once=4) as only:
        for name in "abc":
            await only.add(name, of("ann", "x"))
        await only.add("d", of("ann", "y"))
        await until(lambda: len(only.begun) == 2)
        assert only.begun == ["a", "d"]
        await settled((only, only))
        assert sorted(only.begun) == ["a", "b", "c", "d"]
        assert [name for name in only.begun if name != "d"] == ["a", "b", "c"]
