"""Kills processes where turns are, and starts them again."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg import sql

from benchmarks.chaos_kill.deal import AT_ONCE_AFTER_BEGIN, KINDS, MODEL, QUESTION, Turn
from benchmarks.chaos_kill.tally import Tally
from benchmarks.service.gate import Gate, Present
from benchmarks.service.processes import ForkedAgent, ModelProcess, Service
from benchmarks.service.script import SUPERVISOR, WORKER
from utils.persistence.postgres.names import schema_name

REGISTERED = {SUPERVISOR: "platform-engineer", WORKER: "worker"}
"""The names by which the agents' schemas are found in PostgreSQL."""

_TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "conversation_messages")
_LOCK_SECONDS = 10.0
_LONGEST_AIM = 0.6
"""Most seconds between a message and a kill that waits for no place."""


Victim = ForkedAgent | ModelProcess


class Killer:
    """Carries out the kills that were dealt, one at a time.

    Args:
        service: What is killed.
        gate: Knows which replica runs a turn.
        turns: Every turn of the run.
        tally: Counts.
        seed: Decides the moments of kills that wait for no place.
    """

    def __init__(self, service: Service, gate: Gate, turns: Sequence[Turn], tally: Tally, seed: int) -> None:
        self._service = service
        self._gate = gate
        self._dealt = {turn.order.key: turn for turn in turns if turn.kill}
        self._tally = tally
        self._dice = random.Random(seed)
        self._one_at_a_time = asyncio.Lock()
        self._kills: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None

    async def arrive(self, key: str, place: str, present: Present) -> None:
        """A turn is at a place and waits: kill, where that was dealt, and return when it may go on."""
        turn = self._dealt.get(key)
        if turn is None or KINDS[turn.kill].place != place:
            return
        go_on = asyncio.Event()
        self._start(
            self._kill_there(turn, present, go_on)
        )  # a task: who waits here may be the one that is killed
        await go_on.wait()

    def begin(self, turn: Turn) -> None:
        """A turn begins: kill some time after that, where that was dealt."""
        if turn.kill and KINDS[turn.kill].place == AT_ONCE_AFTER_BEGIN:
            self._start(self._kill_any_time(turn))

    async def wait_for_user(self, turn: Turn) -> None:
        """A task waits for its user: kill now, where that was dealt."""
        if turn.kill and KINDS[turn.kill].place == QUESTION:
            async with self._one_at_a_time:
                await self._kill_and_restart(turn)

    async def finish(self) -> None:
        """Wait for the last kill; count what was not placed.

        Raises:
            RuntimeError: A process did not start again.
        """
        while self._kills:
            await asyncio.wait(set(self._kills))
        self._tally.unplaced += len(self._dealt)
        if self._failure is not None:
            raise self._failure

    def _start(self, kill: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(kill)
        self._kills.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._kills.discard(task)
        if not task.cancelled():
            self._failure = task.exception() or self._failure

    async def _kill_there(self, turn: Turn, present: Present, go_on: asyncio.Event) -> None:
        kind = KINDS[turn.kill]
        try:
            async with self._one_at_a_time:
                if turn.order.key not in self._dealt or not await present():
                    return  # another kill was faster: this one waits for the turn to come here again
                del self._dealt[turn.order.key]
                async with self._locked(kind.locked):
                    if kind.locked:
                        go_on.set()
                    await asyncio.sleep(turn.pause)
                    killed = await self._kill(turn)
                await asyncio.sleep(turn.pause)
                await _start_again(killed)
        finally:
            go_on.set()

    async def _kill_any_time(self, turn: Turn) -> None:
        await asyncio.sleep(self._dice.uniform(0, _LONGEST_AIM))
        async with self._one_at_a_time:
            await self._kill_and_restart(turn)

    async def _kill_and_restart(self, turn: Turn) -> None:
        del self._dealt[turn.order.key]
        killed = await self._kill(turn)
        await asyncio.sleep(turn.pause)
        await _start_again(killed)

    async def _kill(self, turn: Turn) -> list[Victim]:
        """Kill what was dealt, of each agent the replica that runs the turn; what was killed."""
        kind = KINDS[turn.kill]
        self._tally.killed(kind.group, kind.victims, time.monotonic())
        killed = [self._victim(turn, name) for name in kind.victims]
        for victim in killed:
            await victim.kill()
        return killed

    def _victim(self, turn: Turn, name: str) -> Victim:
        if name == MODEL:
            return self._service.model
        replicas = self._service.replicas[name]
        running = self._gate.process.get((turn.order.key, name))
        return next((each for each in replicas if each.home.name == running), self._dice.choice(replicas))

    @asynccontextmanager
    async def _locked(self, agent: str) -> AsyncIterator[None]:
        """Keep an agent from writing checkpoints, where one is named: what it finishes now is not checkpointed."""
        if not agent:
            yield
            return
        connection = await asyncio.to_thread(self._holding, agent)
        try:
            yield
        finally:
            await asyncio.to_thread(connection.close)

    def _holding(self, agent: str) -> sqlite3.Connection | psycopg.Connection:
        """A connection that holds the lock on an agent's checkpoints until it is closed."""
        if url := os.environ.get("DATABASE_URL"):
            schema = sql.Identifier(schema_name(REGISTERED[agent]))
            database = psycopg.connect(url, connect_timeout=int(_LOCK_SECONDS))
            tables = sql.SQL(", ").join(
                sql.SQL("{}.{}").format(schema, sql.Identifier(name)) for name in _TABLES
            )
            database.execute(sql.SQL("LOCK TABLE {} IN EXCLUSIVE MODE").format(tables))
            return database
        path = self._service.data(agent) / "checkpoints.sqlite"
        file = sqlite3.connect(path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False)
        file.execute("BEGIN IMMEDIATE")
        return file


async def _start_again(killed: Sequence[Victim]) -> None:
    await asyncio.gather(*(victim.start() for victim in killed))
