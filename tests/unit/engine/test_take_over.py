"""A replica that dies or stalls in mid-turn: another one goes on, and what the first still writes does not count."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from a2a.types.a2a_pb2 import TaskArtifactUpdateEvent

from tests.postgres import PostgresServer
from tests.unit.engine.replicas import Replica, replica_at
from tests.unit.engine.turns import OWNER, Executor, piece_of, status_of, turn

pytestmark = [
    pytest.mark.servers,
    pytest.mark.processes,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("postgres"),
]


TAKEOVER = 4.0


async def finish(context, queue) -> None:
    """An executor's work: the whole text again, and the end."""
    await queue.enqueue_event(piece_of(context, "Whole."))
    await queue.enqueue_event(status_of(context, "completed"))


@asynccontextmanager
async def other_process(url: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A replica in a process of its own that runs the turn of task `a`, and never ends it."""
    command = [sys.executable, "-m", "tests.unit.engine.replica_process", url]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        await _said(process, "begun")
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _said(process: asyncio.subprocess.Process, word: str) -> None:
    assert process.stdout is not None
    async with asyncio.timeout(60):
        while (line := await process.stdout.readline()) and line.decode().strip() != word:
            pass
    assert line, "the process ended"


async def _text(replica: Replica) -> tuple[str, str]:
    """What a reader has of the answer's text at the end, and what is stored."""
    shown = ""
    async with asyncio.timeout(60):
        async for entry in replica.log.read("a", OWNER):
            if isinstance(entry.event, TaskArtifactUpdateEvent):
                piece = entry.event.artifact.parts[0].text
                shown = shown + piece if entry.event.append else piece
    snapshot = await replica.log.snapshot("a", OWNER)
    assert snapshot is not None
    return shown, "".join(part.text for part in snapshot.task.artifacts[0].parts)


async def test_the_turn_of_a_killed_process_goes_on_elsewhere(postgres: PostgresServer) -> None:
    url = await postgres.migrated()
    executor = Executor(finish, resumable=True)
    async with (
        other_process(url) as process,
        replica_at(postgres.settings(url), executor, takeover=TAKEOVER) as ours,
    ):
        reading = asyncio.create_task(_text(ours))
        killed = asyncio.get_running_loop().time()
        process.kill()
        await executor.begun(1)
        assert asyncio.get_running_loop().time() - killed < TAKEOVER + 60  # a stalled machine may take longer
        assert await reading == ("Whole.", "Whole.")
        assert await ours.rest("a") == ["completed"]
        assert [context.resumed for context in executor.contexts] == [True]


async def test_a_process_that_stalled_and_goes_on_changes_nothing_any_more(postgres: PostgresServer) -> None:
    url = await postgres.migrated()
    executor = Executor(finish, resumable=True)
    async with (
        other_process(url) as process,
        replica_at(postgres.settings(url), executor, takeover=TAKEOVER) as ours,
    ):
        process.send_signal(signal.SIGSTOP)
        await executor.begun(1)
        executor.gate.clear()
        await ours.submit(turn("b"))
        await executor.begun(2)
        before = await ours.rest("a"), await _text(ours)
        process.send_signal(signal.SIGCONT)
        await _said(process, "stopped")
        assert before == (["completed"], ("Whole.", "Whole."))
        assert await _text(ours) == ("Whole.", "Whole.")
        assert await ours.queue.find("b") is not None
        executor.gate.set()
        assert await ours.rest("b") == ["completed"]
        assert await ours.runs.rows() == []
