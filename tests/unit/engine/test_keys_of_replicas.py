"""Two replicas of an agent on one database, of which one got encryption keys that the other lacks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from a2a.types.a2a_pb2 import ListTasksRequest, TaskState
from cryptography.fernet import Fernet
from structlog.testing import capture_logs

from tests.postgres import AGENT, PostgresServer
from tests.unit.engine.replicas import Replica, replica_at
from tests.unit.engine.turns import OWNER, Executor, turn
from utils.a2a_common.engine import sweeper
from utils.a2a_common.handler.operation import public_error
from utils.a2a_common.protocol.retry_later import StorageAwayError
from utils.a2a_common.tasks.turn import encode_turn
from utils.encryption.codec import Codec
from utils.encryption.errors import KeysOutdated
from utils.persistence.encrypted.check import check_keys
from utils.persistence.encrypted.shared_keys import OUTDATED
from utils.persistence.encrypted.stores import EncryptedRuns
from utils.persistence.encrypted.task_log import EncryptedTaskLog
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.postgres.runs import PostgresRuns
from utils.persistence.postgres.task_log import PostgresTaskLogStore
from utils.persistence.runs import RunRow
from utils.persistence.task_log_store import Record, RecordKind, Row, Write

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300), pytest.mark.xdist_group("postgres")]

OLD, NEW, LOST = (Fernet.generate_key().decode() for _ in range(3))


class Started:
    """Replicas that start one after the other, each as a process does: it checks its keys, and then takes turns."""

    def __init__(self, server: PostgresServer, url: str, stack: AsyncExitStack) -> None:
        self._settings = server.settings(url)
        self._stack = stack

    async def start(self, *keys: str) -> Replica:
        """A replica with these keys."""
        codec = Codec(keys)
        pool = PostgresPool(self._settings, agent=AGENT)
        await pool.open()
        await check_keys(codec, Path(), pool)
        await pool.close()
        replica = replica_at(self._settings, Executor(resumable=True), codec=codec, takeover=2, max_turns=2)
        return await self._stack.enter_async_context(replica)


@pytest.fixture
async def replicas(postgres: PostgresServer) -> AsyncIterator[Started]:
    async with AsyncExitStack() as stack:
        yield Started(postgres, await postgres.migrated(), stack)


SIX = [f"t{number}" for number in range(6)]


@pytest.mark.parametrize(
    ("before", "after"), [((), (NEW,)), ((OLD,), (NEW, OLD))], ids=["the first key", "a new first key"]
)
async def test_a_replica_without_the_key_of_another_runs_none_of_its_turns(
    replicas: Started, before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    lacks, has = await replicas.start(*before), await replicas.start(*after)
    for each in SIX:
        await has.submit(turn(each))
    assert await has.rest(*SIX) == ["completed"] * 6
    assert (lacks.executor.began, sorted(has.executor.began)) == ([], SIX)


async def test_it_says_that_it_is_not_ready_and_accepts_nothing_that_it_could_not_answer(
    replicas: Started,
) -> None:
    lacks = await replicas.start()
    assert await lacks.log.not_written() == ""
    await replicas.start(NEW)
    with pytest.raises(KeysOutdated) as caught:
        await lacks.submit(turn("a"))
    assert (caught.value.code, caught.value.retryable) == ("storage_keys_outdated", True)
    assert await lacks.log.not_written() == OUTDATED
    assert await PostgresRuns(lacks.pool).rows() == []


async def test_who_is_refused_is_told_to_try_again_and_how_soon_as_while_the_database_is_away() -> None:
    told = public_error(KeysOutdated(for_operator=OUTDATED), "trace")
    assert isinstance(told, StorageAwayError)
    assert (told.status, told.message) == (503, KeysOutdated.sentence)


async def test_what_the_other_stored_is_refused_by_it_so_that_it_is_asked_for_again_and_not_taken_for_lost(
    replicas: Started,
) -> None:
    lacks, has = await replicas.start(), await replicas.start(NEW)
    await has.submit(turn("a"))
    assert await has.rest("a") == ["completed"]
    refused = (
        lacks.log.head("a", OWNER),
        lacks.log.snapshot("a", OWNER),
        lacks.log.claim("a", OWNER),
        lacks.log.page(ListTasksRequest(context_id="c"), OWNER),
        anext(lacks.log.read("a", OWNER)),
    )
    for call in refused:
        with pytest.raises(KeysOutdated):
            await call
    assert await has.state("a") == "completed"


async def test_what_it_accepted_before_is_answered_by_the_other(replicas: Started) -> None:
    lacks = await replicas.start()
    lacks.executor.gate.clear()
    await lacks.submit(turn("a", conversation="x"))
    async with asyncio.timeout(60):
        while not lacks.executor.began:
            await asyncio.sleep(0.01)
    await lacks.submit(turn("b", conversation="x"))
    has = await replicas.start(NEW)
    lacks.executor.gate.set()
    assert await has.rest("a", "b") == ["completed", "completed"]
    assert has.executor.began == ["b"]


async def test_with_a_key_that_both_read_both_run_turns(replicas: Started) -> None:
    """The way that loses no request: all replicas read the key before one of them writes with it."""
    both = await replicas.start("plain", NEW), await replicas.start(NEW)
    for each in both:
        each.executor.gate.clear()
    for name in SIX[:4]:
        await both[0].submit(turn(name))
    async with asyncio.timeout(60):
        while sum(len(each.executor.began) for each in both) < 4:
            await asyncio.sleep(0.01)
    assert [len(each.executor.began) for each in both] == [2, 2]
    for each in both:
        each.executor.gate.set()
    for each in both:
        assert await each.rest(*SIX[:4]) == ["completed"] * 4


async def test_a_turn_that_no_key_reads_is_ended_and_the_others_go_on(
    replicas: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeper, "STRAY_SECONDS", 0.05)
    replica = await replicas.start(NEW)
    for name, codec in (("lost", Codec([LOST])), ("fine", Codec([NEW]))):
        body = encode_turn(turn(name))
        row = RunRow(name, f"conversation of {name}", OWNER, body, writer=0)
        await EncryptedRuns(PostgresRuns(replica.pool), codec).put(row)
    async with asyncio.timeout(60):
        while await replica.runs.rows():
            await asyncio.sleep(0.02)
    assert await replica.state("fine") == "completed"
    assert replica.executor.began == ["fine"]


async def test_an_open_task_that_no_key_reads_is_looked_at_once_and_not_at_every_look(
    replicas: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeper, "STRAY_SECONDS", 0.05)
    replica = await replicas.start(NEW)
    log = EncryptedTaskLog(PostgresTaskLogStore(replica.pool), Codec([LOST]))
    attempt = (await log.claim("lost", OWNER)).attempt
    head = Row("lost", OWNER, "c", TaskState.TASK_STATE_WORKING, 1, b"head", 1)
    await log.append(Write("lost", OWNER, attempt, 0, (Record(1, RecordKind.TASK, b"x"),), row=head))
    looks, clear = 0, replica.queue.clear

    async def noted() -> None:
        nonlocal looks
        looks += 1
        await clear()

    monkeypatch.setattr(replica.queue, "clear", noted)
    with capture_logs() as lines:
        async with asyncio.timeout(60):
            while looks < 5:
                await asyncio.sleep(0.02)
    assert [line["task_id"] for line in lines if line["event"] == "turn.stray"] == ["lost"]
