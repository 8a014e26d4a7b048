"""The run: `python -m benchmarks.simulate N=1000 SEED=1 [JOBS=processors]`; 1 where anything went wrong."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

CHUNK = 25
SHOWN = 40
LINES = 60
FIRST = 10_000 if "--trace" in sys.argv else 40


def chunk(first: int, last: int) -> tuple[Counter[str], list[tuple[int, str]]]:
    """Counts and reports of the schedules of the seeds `first` to `last`."""
    import logging
    import warnings

    from benchmarks.simulate.schedule import run_schedule

    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    gc.freeze()
    counts: Counter[str] = Counter()
    reports = []
    for seed in range(first, last):
        outcome = run_schedule(seed)
        counts.update(schedules=1, steps=outcome.steps, violations=bool(outcome.faults))
        counts.update(outcome.dealt)
        if outcome.faults:
            reports.append((seed, report(outcome.seed, outcome.title, outcome.faults, outcome.trace)))
    return counts, reports


def report(seed: int, title: str, faults: list[str], trace: list[str]) -> str:
    """A violation: what does not hold, the last steps, and how to run it again."""
    shown = trace if len(trace) <= LINES + FIRST else [*trace[:FIRST], "…", *trace[-LINES:]]
    again = f"Again: make simulate SEED={seed} N=1"
    return "\n".join(
        (f"violation, seed {seed} ({title})", *faults[:SHOWN], *(f"  {line}" for line in shown), again)
    )


def simulate(number: int, seed: int, jobs: int) -> Iterator[tuple[Counter[str], list[tuple[int, str]]]]:
    """The schedules of `number` seeds from `seed` on, in parts."""
    starts = range(seed, seed + number, CHUNK)
    if jobs == 1:
        for start in starts:
            yield chunk(start, min(seed + number, start + CHUNK))
        return
    with ProcessPoolExecutor(jobs) as pool:
        futures = [pool.submit(chunk, start, min(seed + number, start + CHUNK)) for start in starts]
        try:
            for future in futures:
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def main(arguments: list[str]) -> int:
    """Run and print; the last line counts."""
    options = {"N": "1000", "SEED": "1", "JOBS": str(os.cpu_count() or 1)}
    options |= {name: value for name, _, value in (text.partition("=") for text in arguments) if value}
    number, seed, jobs = (int(options[name]) for name in ("N", "SEED", "JOBS"))
    began = time.monotonic()
    total: Counter[str] = Counter()
    for counts, reports in simulate(number, seed, min(jobs, number)):
        for _, text in reports[: max(0, SHOWN - total["violations"])]:
            print(text, "\n", flush=True)
        total.update(counts)
        if total["schedules"] % 5_000 == 0:
            print(f"{total['schedules']:,} schedules", file=sys.stderr, flush=True)
    faults = ", ".join(
        f"{total[name]:,} {name}" for name in ("lost processes", "failed", "answer lost", "slow")
    )
    print(f"{total['steps']:,} steps; {faults}; {time.monotonic() - began:.0f} s, seed {seed}")
    print(f"{total['schedules']:,} schedules, {total['violations']} violations")
    return 1 if total["violations"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
