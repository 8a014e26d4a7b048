"""The run: `python -m benchmarks.storage_faults [LOCKS=1,8,20,60] [FULL=12] [DAMAGE=2] [SEED=1]`. The last line counts.

LOCKS: seconds that another process locks the tasks for. FULL: seconds that the file system is full (0: leave out; needs the
right to mount one). DAMAGE: pages (0: leave out). 1 where anything went wrong.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import httpx

from benchmarks.service.client import OPEN, Seen, Talk, http_client, tasks_in
from benchmarks.service.doors import call
from benchmarks.service.gate import Gate
from benchmarks.service.processes import Service, running_service
from benchmarks.service.script import SAY, SUPERVISOR, Order
from benchmarks.storage_faults.faults import damage_pages, filled, hold_write_lock, small_file_system
from benchmarks.storage_faults.tally import Tally

ANSWERS = 8
PIECES = 40
MORE_SECONDS = 3.0
"""How much longer the answers stream than the fault lasts."""

BEFORE_SECONDS = 0.7
PATIENCE_SECONDS = 100.0
SLOW_READ_SECONDS = 3.0
USABLE_SECONDS = 30.0
FILE_SYSTEM_MEGABYTES = 8
CONVERSATIONS = 9
EXIT_FILE = 2


def _orders(name: str, seconds: float) -> list[Order]:
    pause = int((seconds + MORE_SECONDS) / PIECES * 1000)
    return [Order(f"{name}.{number}", SAY, 3 * PIECES, pause) for number in range(ANSWERS)]


async def _stream(http: httpx.AsyncClient, url: str, orders: list[Order]) -> asyncio.Future[list[Seen]]:
    """Begin answers; they are streaming when this returns."""
    talks = [Talk(http, url, PATIENCE_SECONDS) for _ in orders]
    answers = asyncio.gather(*(talk.send(order.text) for talk, order in zip(talks, orders, strict=True)))
    await asyncio.sleep(BEFORE_SECONDS)
    return answers


async def _reads_at_once(http: httpx.AsyncClient, url: str, task: str, what: str, tally: Tally) -> None:
    began = time.monotonic()
    answer = await call(http, url, "GetTask", {"id": task})
    taken = time.monotonic() - began
    if "result" not in answer or taken > SLOW_READ_SECONDS:
        tally.fault("slow_reads", f"{what}: {taken:.1f} s, {str(answer)[:100]}")


async def _works_again(http: httpx.AsyncClient, service: Service, what: str, tally: Tally) -> None:
    """Nothing stays at work, and a new turn is answered."""
    order = Order("after", SAY)
    deadline = time.monotonic() + USABLE_SECONDS
    while True:
        seen = await Talk(http, service.url, USABLE_SECONDS).send(order.text)
        if seen.text == seen.stored == order.answer:
            break
        if time.monotonic() > deadline:
            tally.fault("unusable", f"{what}: {seen}")
            break
        await asyncio.sleep(0.5)
    while left := sum([await tasks_in(http, service.url, state) for state in OPEN if state]):
        if time.monotonic() > deadline:
            tally.fault("stuck", f"{what}: {left} tasks work on", left)
            break
        await asyncio.sleep(0.2)


async def locked(seconds: float, file: str, tally: Tally) -> None:
    """Another process locks a file while answers stream."""
    what = f"{file} locked for {seconds:g} s"
    with tempfile.TemporaryDirectory() as folder:
        async with running_service(Path(folder), Gate()) as service, http_client() as http:
            first = await Talk(http, service.url).send(Order("first", SAY).text)
            orders = _orders("locked", seconds)
            answers = await _stream(http, service.url, orders)
            lock = asyncio.create_task(hold_write_lock(service.data(SUPERVISOR) / file, seconds))
            await asyncio.sleep(min(seconds / 2, 2))
            await _reads_at_once(http, service.url, first.task_id, what, tally)
            await lock
            await _check_all(what, orders, await answers, tally)
            await _works_again(http, service, what, tally)


async def full(seconds: float, tally: Tally) -> None:
    """The file system has no free byte for a while."""
    what = f"file system full for {seconds:g} s"
    with (
        tempfile.TemporaryDirectory() as folder,
        small_file_system(Path(folder) / SUPERVISOR, FILE_SYSTEM_MEGABYTES) as mounted,
    ):
        if not mounted:
            print(f"{what}: left out, no right to mount a file system")
            return
        async with running_service(Path(folder), Gate()) as service, http_client() as http:
            orders = _orders("full", seconds)
            answers = await _stream(http, service.url, orders)
            with filled(Path(folder) / SUPERVISOR):
                refused = await Talk(http, service.url, 5).send(Order("meanwhile", SAY).text)
                print(f"  a new message meanwhile: {refused.state or 'refused'}, {refused.said[:100]!r}")
                await asyncio.sleep(seconds)
            await _check_all(what, orders, await answers, tally)
            await _works_again(http, service, what, tally)


async def damaged(file: str, pages: int, seed: int, tally: Tally) -> None:
    """Pages of a file are damaged while the supervisor is down."""
    what = f"{pages} pages of {file} damaged (seed {seed})"
    with tempfile.TemporaryDirectory() as folder:
        async with running_service(Path(folder), Gate()) as service, http_client() as http:
            talks = [Talk(http, service.url, 20) for _ in range(CONVERSATIONS)]
            for number, talk in enumerate(talks):
                await talk.send(Order(f"old.{number}", SAY, 600).text)
            await service.supervisor.stop()
            path = service.data(SUPERVISOR) / file
            with closing(sqlite3.connect(path)) as database:
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            print(f"{what}: {damage_pages(path, pages, seed)} of {path.stat().st_size // 4096}")
            if not await _starts_or_says_why(service, file, what, tally):
                return
            orders = [Order(f"new.{number}", SAY) for number in range(CONVERSATIONS + 1)]
            for talk, order in zip([*talks, Talk(http, service.url, 20)], orders, strict=True):
                tally.check(what, order, await talk.send(order.text))
            left = sum([await tasks_in(http, service.url, state) for state in OPEN if state])
            if left:
                tally.fault("stuck", f"{what}: {left} tasks work on", left)


async def _starts_or_says_why(service: Service, file: str, what: str, tally: Tally) -> bool:
    offset = service.supervisor.log.stat().st_size
    try:
        await service.supervisor.start()
    except RuntimeError as error:
        said = service.supervisor.log.read_bytes()[offset:].decode(errors="replace")
        print(f"  refused to start: {said.strip().splitlines()[-1:]}, {str(error)[-24:]}")
        if file not in said or f"code {EXIT_FILE}." not in str(error):
            tally.fault("unusable", f"{what}: the end names no file, or its code is not {EXIT_FILE}")
        return False
    return True


async def _check_all(what: str, orders: list[Order], seen: list[Seen], tally: Tally) -> None:
    for order, one in zip(orders, seen, strict=True):
        tally.check(what, order, one)
    states = sorted({f"{one.state.removeprefix('TASK_STATE_').lower()} {one.code}".strip() for one in seen})
    print(
        f"{what}: {', '.join(states)}; longest {max(one.ended - one.began for one in seen):.1f} s", flush=True
    )


async def run(options: Mapping[str, str]) -> Tally:
    """All faults, one after the other, each with a service of its own."""
    tally, seed = Tally(), int(options["SEED"])
    for seconds in filter(None, options["LOCKS"].split(",")):
        await locked(float(seconds), "tasks.sqlite", tally)
    if options["LOCKS"]:
        await locked(14, "checkpoints.sqlite", tally)
    if float(options["FULL"]):
        await full(float(options["FULL"]), tally)
    if pages := int(options["DAMAGE"]):
        for file in ("tasks.sqlite", "checkpoints.sqlite"):
            await damaged(file, pages, seed, tally)
            await damaged(file, 1, seed, tally)
    return tally


def main(arguments: list[str]) -> int:
    """Run and print the counts."""
    options = {"LOCKS": "1,8,20,60", "FULL": "12", "DAMAGE": "2", "SEED": "1"}
    given = dict(text.split("=", 1) for text in arguments if "=" in text)
    if len(given) < len(arguments) or set(given) - set(options):
        print(__doc__)
        return 0 if {"-h", "--help"} & set(arguments) else 2
    try:
        tally = asyncio.run(run(options | given))
    except KeyboardInterrupt:
        return 130
    print(tally.verdict())
    return 1 if tally.wrong.total() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
