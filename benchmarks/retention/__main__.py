"""The run: `python -m benchmarks.retention STORE=sqlite TURNS=1000`. The last line counts; 1 where anything went wrong.

STORE: sqlite or postgresql. TURNS: turns in all, two in each conversation, every fourth one delegated. What both agents
store is read at `/metrics`. `growth` is the largest size of the last quarter of the run beside that of its second quarter.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg

from benchmarks.retention.tally import Tally
from benchmarks.service.client import Talk, http_client
from benchmarks.service.gate import Gate, open_gate
from benchmarks.service.processes import Service, running_service
from benchmarks.service.script import SAY, WORK, Order
from benchmarks.service.store import STORES, stored_in

CLIENTS = 6
DELEGATED_EVERY = 4
WORDS = 60
SETTINGS = {
    "RETENTION_TASKS_MB": "0.4",
    "RETENTION_CHECKPOINTS_MB": "0.4",
    "RETENTION_LOOK_SECONDS": "1",
}
"""About forty conversations of two turns."""

_STORED = re.compile(r'^platform_engineer_stored_bytes\{kind="\w+"\} (\S+)', re.MULTILINE)
_DELETED = re.compile(r"^platform_engineer_conversations_deleted_total (\S+)", re.MULTILINE)
_VACUUM_OFTEN = ("autovacuum_naptime = 1", "autovacuum_vacuum_cost_delay = 0")
"""A run is shorter than the minute after which PostgreSQL looks for what it may use again."""


async def run(turns: int, folder: Path) -> Tally:
    """All turns, and a sample of the sizes after each conversation."""
    tally, gate, orders = Tally(), Gate(), iter(range(turns // 2))
    async with (
        open_gate(gate),
        running_service(folder, gate, SETTINGS) as service,
        http_client() as http,
    ):
        async with asyncio.TaskGroup() as group:
            for _ in range(CLIENTS):
                group.create_task(_converse(http, service, orders, tally))
        tally.deleted = sum([await _read(http, agent.url, _DELETED) for agent in service.processes])
    return tally


async def _converse(http: httpx.AsyncClient, service: Service, numbers: Iterator[int], tally: Tally) -> None:
    for number in numbers:
        talk = Talk(http, service.url)
        for turn in range(2):
            kind = WORK if number % DELEGATED_EVERY == 0 else SAY
            order = Order(f"{number}.{turn}", kind, WORDS)
            tally.check(order, await talk.send(order.text, streamed=bool(number % 2)))
        tally.sizes.append(sum([await _read(http, agent.url, _STORED) for agent in service.processes]))


async def _read(http: httpx.AsyncClient, url: str, what: re.Pattern[str]) -> int:
    """The sum of a metric's series."""
    return round(sum(map(float, what.findall((await http.get(f"{url}/metrics")).text))))


def _vacuum_often() -> None:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        for setting in _VACUUM_OFTEN:
            connection.execute(f"ALTER SYSTEM SET {setting}")
        connection.execute("SELECT pg_reload_conf()")


def main(arguments: list[str]) -> int:
    """Run and print the counts."""
    options = {"STORE": "sqlite", "TURNS": "1000"}
    given = dict(text.split("=", 1) for text in arguments if "=" in text)
    if set(given) - set(options) or len(given) < len(arguments) or given.get("STORE", "sqlite") not in STORES:
        print(__doc__, file=sys.stderr)
        return 2
    options |= given
    folder, began = Path(tempfile.mkdtemp(prefix="retention-")), time.monotonic()
    try:
        with stored_in(options["STORE"]):
            if options["STORE"] != "sqlite":
                _vacuum_often()
            tally = asyncio.run(run(int(options["TURNS"]), folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{time.monotonic() - began:.0f} s, {options['STORE']}")
    print(tally.verdict())
    return 0 if tally.passed() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
