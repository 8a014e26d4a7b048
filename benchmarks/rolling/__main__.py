"""The run: `python -m benchmarks.rolling STREAMS=50 BLOCKING=50 REPLICAS=2`. The last line counts; 1 where anything went wrong.

STREAMS, BLOCKING: clients that read streams, and that wait for whole answers. REPLICAS: supervisors and workers. KEEP=1 keeps the
folder with data and logs, and prints where it is.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.rolling.tally import Tally
from benchmarks.service.client import Talk, http_client
from benchmarks.service.doors import RpcDoor
from benchmarks.service.failover import Failover
from benchmarks.service.gate import Gate, open_gate
from benchmarks.service.processes import Service, running_service
from benchmarks.service.script import SAY, SUPERVISOR, WORK, Order
from benchmarks.service.store import stored_in

SETTINGS = {"SHUTDOWN_GRACE_SECONDS": "1"}
"""Shorter than a turn under this load, so that turns are handed over."""

WORDS = 45
PAUSE_MS = 150
DELEGATED_EVERY = 4
"""Each fourth client's turns are delegated, with an effect that is counted."""

BETWEEN_SECONDS = 1.0


async def run(streams: int, blocking: int, folder: Path, replicas: int) -> Tally:
    """Load, and a restart of each supervisor under it."""
    tally, gate, over = Tally(), Gate(), asyncio.Event()
    async with (
        open_gate(gate),
        running_service(folder, gate, SETTINGS, replicas=replicas) as service,
        http_client() as http,
        asyncio.TaskGroup() as group,
    ):
        supervisors = [RpcDoor(http, each.url) for each in service.replicas[SUPERVISOR]]
        for number in range(streams + blocking):
            talk = Talk(http, "", door=Failover(supervisors, number))
            group.create_task(_talk(talk, number, number < streams, tally, over))
        try:
            await _restart_all(service, tally)
        finally:
            over.set()
    tally.check_effects(service.effects())
    tally.check_remarks(gate.remarks)
    for process in service.processes:
        tally.check_log(process.log.read_text(errors="replace").splitlines())
    return tally


async def _talk(talk: Talk, number: int, streamed: bool, tally: Tally, over: asyncio.Event) -> None:
    """Turns one after the other, until the last restart is over."""
    turn = 0
    while not over.is_set() or not turn:
        kind = WORK if number % DELEGATED_EVERY == 0 else SAY
        order = Order(f"{number}.{turn}", kind, WORDS, PAUSE_MS)
        tally.check(order, await talk.send(order.text, streamed=streamed), streamed=streamed)
        turn += 1


async def _restart_all(service: Service, tally: Tally) -> None:
    for supervisor in service.replicas[SUPERVISOR]:
        await asyncio.sleep(BETWEEN_SECONDS)  # some turns run there
        code = await supervisor.stop()
        if code != 0:
            tally.fault("crashed", f"{supervisor.home.name} ended with {code}")
        await supervisor.start()
        tally.happened["restarts"] += 1
    await asyncio.sleep(BETWEEN_SECONDS)


def main(arguments: list[str]) -> int:
    """Run and print the counts."""
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    options = {"STREAMS": "50", "BLOCKING": "50", "REPLICAS": "2", "KEEP": ""}
    given = dict(text.split("=", 1) for text in arguments if "=" in text)
    if unknown := (set(given) - set(options)) | {text for text in arguments if "=" not in text}:
        print(f"{', '.join(sorted(unknown))}: not known. {__doc__}", file=sys.stderr)
        return 2
    options |= given
    folder, began = Path(tempfile.mkdtemp(prefix="rolling-")), time.monotonic()
    streams, blocking, replicas = (int(options[name]) for name in ("STREAMS", "BLOCKING", "REPLICAS"))
    try:
        with stored_in("postgresql"):
            tally = asyncio.run(run(streams, blocking, folder, replicas))
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    finally:
        if options["KEEP"]:
            print(f"data and logs: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{time.monotonic() - began:.0f} s")
    print(tally.verdict())
    return 0 if tally.passed() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
