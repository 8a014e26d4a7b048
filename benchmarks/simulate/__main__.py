"""The run: `python -m benchmarks.simulate N=1000 SEED=1 [ENGINES=2] [JOBS=processors] [BREAK=no-fence]`.

With two engines the schedules are of two replicas that share one database. The last line counts; 1 where a schedule broke an invariant. With `BREAK` the product is broken on purpose: the run ends
with the first schedule that shows it, and 1 where none does.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from benchmarks.simulate.schedule import Outcome

CHUNK = 25
SHOWN = 5
FIRST, LAST = 40, 60
"""Lines of a trace that are shown from its beginning and from its end; all of one schedule alone."""


class Part(NamedTuple):
    """Some schedules: what happened, and the reports of those that broke an invariant, by seed."""

    counts: Counter[str]
    reports: list[tuple[int, str]]


class What(NamedTuple):
    """What is run: how many engines share the work, and the name of a deliberate break, if any."""

    engines: int = 1
    broken_by: str = ""


def run_part(first: int, last: int, what: What, *, whole: bool = False) -> Part:
    """Run the schedules of the seeds from `first` to before `last`."""
    from benchmarks.simulate.breaks import broken
    from benchmarks.simulate.schedule import run_schedule

    part = Part(Counter(), [])
    with broken(what.broken_by):
        for seed in range(first, last):
            outcome = run_schedule(seed, what.engines)
            part.counts.update(schedules=1, steps=outcome.steps, violations=int(bool(outcome.faults)))
            part.counts.update(outcome.dealt)
            if outcome.faults:
                trace = outcome.trace
                if not whole and len(trace) > FIRST + LAST:
                    trace = [*trace[:FIRST], f"… {len(trace) - FIRST - LAST} lines …", *trace[-LAST:]]
                again = f"make simulate {'ENGINES=2 ' if what.engines > 1 else ''}SEED={seed} N=1"
                part.reports.append((seed, report(again, seed, outcome, trace)))
    return part


def report(again: str, seed: int, outcome: Outcome, trace: list[str]) -> str:
    """A violation: what does not hold, what happened, and how to run it again."""
    shown = (
        f"violation, seed {seed}: {outcome.title}",
        *outcome.faults[:SHOWN],
        *(f"  {line}" for line in trace),
        f"Again, with every line: {again}",
    )
    return "\n".join(shown)


def parts(number: int, seed: int, jobs: int, what: What) -> Iterator[Part]:
    """The schedules of `number` seeds from `seed` on, in parts."""
    end = seed + number
    if jobs == 1 or number <= CHUNK:
        for start in range(seed, end, CHUNK):
            yield run_part(start, min(end, start + CHUNK), what, whole=number == 1)
        return
    with ProcessPoolExecutor(jobs) as pool:
        starts = range(seed, end, CHUNK)
        futures = [pool.submit(run_part, start, min(end, start + CHUNK), what) for start in starts]
        try:
            for future in futures:
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)  # this process ends without telling them: they would stay


def search(number: int, seed: int, jobs: int, what: What) -> int:
    """Look for the first schedule that shows a break."""
    for part in parts(number, seed, jobs, what):
        if part.reports:
            found, text = part.reports[0]
            print(text)
            print(f"{what.broken_by}: found after {found - seed + 1:,} schedules, seed {found}")
            return 0
    print(f"{what.broken_by}: not found in {number:,} schedules")
    return 1


def simulate(number: int, seed: int, jobs: int, what: What) -> int:
    """Run all, and print the first violations and the counts."""
    began, total = time.monotonic(), Counter[str]()
    for part in parts(number, seed, jobs, what):
        room = max(0, SHOWN - total["violations"])
        for _, text in part.reports[:room]:
            print(text, "\n", flush=True)
        for _, text in part.reports[room:]:
            print("\n".join(text.split("\n")[:2]), "\n", flush=True)
        total.update(part.counts)
        if total["schedules"] % 5_000 == 0:
            print(f"{total['schedules']:,} schedules", file=sys.stderr, flush=True)
    faults = ", ".join(
        f"{total[name]:,} {name}" for name in ("processes lost", "failed", "answer lost", "slow")
    )
    print(f"{total['steps']:,} steps; {faults}; {time.monotonic() - began:.0f} s, seed {seed}")
    engines = f", {what.engines} engines" if what.engines > 1 else ""
    print(f"{total['schedules']:,} schedules{engines}, {total['violations']:,} violations")
    return 1 if total["violations"] else 0


def main(arguments: list[str]) -> int:
    """Run what the arguments say."""
    options = {"N": "1000", "SEED": "1", "JOBS": str(os.cpu_count() or 1), "BREAK": "", "ENGINES": "1"}
    options |= {name: value for name, _, value in (text.partition("=") for text in arguments) if value}
    number, seed, jobs = (int(options[name]) for name in ("N", "SEED", "JOBS"))
    what = What(min(2, int(options["ENGINES"])), options["BREAK"])
    if what.broken_by:
        return search(number, seed, jobs, what)
    return simulate(number, seed, jobs, what)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    for (
        worker
    ) in multiprocessing.active_children():  # those of a pool that has not stopped yet would wait without end
        worker.kill()
    os._exit(code)  # what dead processes left is not unwound
