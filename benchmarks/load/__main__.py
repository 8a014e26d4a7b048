"""The run: `python -m benchmarks.load [STREAMS=1] [CLIENTS=1] [SOAK=0]`. The last line counts what must be zero.

STREAMS, CLIENTS: 0 leaves that part out. SOAK: seconds of the long run, 1800 for half an hour; left out where 0.
"""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from benchmarks.load.clients import unary_clients
from benchmarks.load.soak import soak
from benchmarks.load.streams import dropped_streams, idle_streams, slow_reader
from benchmarks.wire import served

WRONGS = ("slow_reader", "unfinished", "left", "late", "unbounded", "errors")
"""Slow readers that did not get all, tasks that did not end, what stayed afterwards, nobody served early, nobody told to come
again, answers that are neither."""


class Tally:
    """Counts what went wrong."""

    def __init__(self) -> None:
        self.wrong: Counter[str] = Counter()

    def fault(self, kind: str, text: str) -> None:
        """Count and print it."""
        self.wrong[kind] += 1
        print(f"  {kind}: {text}", flush=True)

    def verdict(self) -> str:
        """The last line."""
        return " ".join(f"{kind}={self.wrong[kind]}" for kind in WRONGS)


async def run(options: dict[str, str]) -> Tally:
    """The parts that are asked for."""
    tally = Tally()
    if options["STREAMS"] != "0":
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            pair = [
                stack.enter_context(served("ours", str(folder / "ours.db"))),
                stack.enter_context(served("bare", str(folder / "bare.db"))),
            ]
            for measure in (slow_reader, idle_streams, dropped_streams):
                for server in pair:
                    await measure(server, tally.fault)
    if options["CLIENTS"] != "0":
        await unary_clients(tally.fault)
    if seconds := float(options["SOAK"]):
        await soak(seconds, tally.fault)
    return tally


def main(arguments: list[str]) -> int:
    """Run and print the counts."""
    options = {"STREAMS": "1", "CLIENTS": "1", "SOAK": "0"}
    given = dict(text.split("=", 1) for text in arguments if "=" in text)
    if len(given) < len(arguments) or set(given) - set(options):
        print(__doc__)
        return 0 if {"-h", "--help"} & set(arguments) else 2
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        tally = asyncio.run(run(options | given))
    except KeyboardInterrupt:
        return 130
    print(tally.verdict())
    return 1 if tally.wrong.total() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
