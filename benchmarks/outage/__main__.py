"""The run: `python -m benchmarks.outage SECONDS=20 CLIENTS=16`. The last line counts; 1 where anything went wrong.

SECONDS: how long PostgreSQL is stopped. CLIENTS: users who send one message after the other, by turns as a stream and as a
blocking call, every fourth one delegated, to two supervisors over two workers.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx

from benchmarks.outage.tally import Tally
from benchmarks.service.client import OPEN, Seen, Talk, http_client
from benchmarks.service.doors import ComeAgain
from benchmarks.service.gate import Gate, open_gate
from benchmarks.service.processes import Service, running_service
from benchmarks.service.script import SAY, SUPERVISOR, WORK, Order
from tests.postgres import PostgresServer, running_server

SETTLE_SECONDS = 120.0
WORDS, PAUSE_MS = 30, 100
DELEGATED_EVERY = 4
REPLICAS = 2


class Load:
    """Users, until they are to stop.

    Attributes:
        seen: What each saw of each of its tasks.
        over: Set when they send nothing more.
        back: Set when the database is back.
    """

    def __init__(self, service: Service, http: httpx.AsyncClient, tally: Tally) -> None:
        self.seen: list[Seen] = []
        self.over, self.back = asyncio.Event(), asyncio.Event()
        self._urls = [each.url for each in service.replicas[SUPERVISOR]]
        self._http = http
        self._tally = tally

    async def user(self, number: int) -> None:
        """One message after the other, each in a conversation of its own."""
        turn = 0
        while not self.over.is_set():
            kind = WORK if (number + turn) % DELEGATED_EVERY == 0 else SAY
            order = Order(f"{number}.{turn}", kind, WORDS, PAUSE_MS)
            talk = Talk(self._http, self._urls[(number + turn) % len(self._urls)])
            await self._one(talk, order, streamed=bool(turn % 2))
            turn += 1

    async def _one(self, talk: Talk, order: Order, *, streamed: bool) -> None:
        after, seen = self.back.is_set(), Seen()
        self.seen.append(seen)
        try:
            await talk.once(order.text, seen, streamed=streamed)
        except ComeAgain as later:
            self._tally.happened["later"] += 1
            await asyncio.sleep(min(later.seconds, 1.0))
        except httpx.TransportError as error:
            self._tally.fault("cut", f"{order.text}, task {seen.task_id}: {type(error).__name__} {error}")
        else:
            answered = self._tally.happened["answered"]
            self._tally.check(order, seen)
            self._tally.happened["recovered"] += after and self._tally.happened["answered"] > answered


async def run(seconds: float, clients: int, folder: Path, server: PostgresServer) -> Tally:
    """The load, the outage under it, and what is left of the tasks."""
    tally, gate = Tally(), Gate()
    settings = {"DATABASE_URL": server.new_database(), "DATABASE_CONNECT_SECONDS": "60"}
    async with (
        open_gate(gate),
        running_service(folder, gate, settings, replicas=REPLICAS) as service,
        http_client() as http,
    ):
        load = Load(service, http, tally)
        async with asyncio.TaskGroup() as group:
            for number in range(clients):
                group.create_task(load.user(number))
            await _until(lambda: tally.happened["answered"] >= clients)
            await asyncio.to_thread(server.stop)
            await asyncio.sleep(seconds)
            await asyncio.to_thread(server.start)
            load.back.set()
            await _until(lambda: tally.happened["recovered"] >= clients)
            load.over.set()
        await _check_stored(http, service, load, tally)
        for process in service.processes:
            if process.exit_code is not None:
                tally.fault("died", f"{process.home.name} with {process.exit_code}")
    return tally


async def _until(reached: Callable[[], bool]) -> None:
    """Let the load go on until then, or for as long as that takes at most."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SETTLE_SECONDS):
            while not reached():  # noqa: ASYNC110 - counts have no event
                await asyncio.sleep(0.1)


async def _check_stored(http: httpx.AsyncClient, service: Service, load: Load, tally: Tally) -> None:
    """Every task has an end, the one that was told where one was told."""
    until = time.monotonic() + SETTLE_SECONDS
    for told in load.seen:
        if not told.task_id:
            continue
        stored = await Talk(http, service.url).look(told.task_id)
        while stored.state in OPEN and time.monotonic() < until:
            await asyncio.sleep(0.2)
            stored = await Talk(http, service.url).look(told.task_id)
        if stored.state in OPEN:
            tally.fault("stuck", f"task {told.task_id}: {stored.state or stored.said}")
        else:
            tally.check_stored(told, stored.state, stored.text)


def main(arguments: list[str]) -> int:
    """Run and print the counts."""
    options = {"SECONDS": "20", "CLIENTS": "16"}
    given = dict(text.split("=", 1) for text in arguments if "=" in text)
    if set(given) - set(options) or len(given) < len(arguments):
        print(__doc__, file=sys.stderr)
        return 2
    options |= given
    folder, began = Path(tempfile.mkdtemp(prefix="outage-")), time.monotonic()
    try:
        with running_server() as server:
            tally = asyncio.run(run(float(options["SECONDS"]), int(options["CLIENTS"]), folder, server))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for reason, times in tally.reasons.most_common():
        print(f"{times} times {reason}")
    print(f"{time.monotonic() - began:.0f} s, PostgreSQL away for {options['SECONDS']} s")
    print(tally.verdict())
    return 0 if tally.passed() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
