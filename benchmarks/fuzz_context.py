"""Generated conversations through the context pipeline; the last line counts what went wrong.

    python -m benchmarks.fuzz_context N=2000 SEED=1 [LARGE=200] [JOBS=processors]

Every history is sent as it grows, under a policy drawn by lot, and each request is checked on the
payload that the real clients of OpenAI, Bedrock and Anthropic make of it. `LARGE` of the histories,
a tenth at most, have windows of up to a million tokens.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

LARGE = 200
CHUNK = 50
COUNTS = ("over", "invalid", "lost_requests", "lost_constraints", "wrong_refusals", "broken", "lost_media")


def chunk(first: int, last: int, seed: int, large: int) -> tuple[Counter[str], list[str]]:
    """Counts and the first faults of the histories `first` to `last`."""
    from tests.property.context.histories import history
    from tests.property.context.oracle import run
    from utils.messages.counter import MessageCounter

    counter = MessageCounter()
    counts: Counter[str] = Counter()
    faults: list[str] = []
    for number in range(first, last):
        key = seed * 1_000_000_007 + number
        try:
            outcome = run(history(key, large=number < large), counter)
        except Exception as error:  # noqa: BLE001 - whatever it raises is what is looked for
            faults.append(f"history {key} raised {error!r}")
            counts.update(histories=1, broken=1)
            continue
        counts.update(
            histories=1, requests=outcome.requests, compacted=outcome.compacted, refused=outcome.refused
        )
        counts.update({name: len(getattr(outcome, name)) for name in COUNTS})
        faults.extend(f"history {key}: {fault}" for fault in outcome.faults[:3])
    return counts, faults


def fuzz(number: int, seed: int, jobs: int, large: int = LARGE) -> Counter[str]:
    """Run `number` histories, the first `large` of them long ones, and print the faults as they come."""
    large = min(large, number // 10)
    starts = range(0, number, CHUNK)
    total: Counter[str] = Counter()
    with ProcessPoolExecutor(jobs) as pool:
        futures = [pool.submit(chunk, start, min(number, start + CHUNK), seed, large) for start in starts]
        for done, future in enumerate(futures, 1):
            counts, faults = future.result()
            total.update(counts)
            for fault in faults[:5]:
                print(fault)
            if done % 200 == 0:
                print(f"{total['histories']:,} histories", file=sys.stderr, flush=True)
    return total


def main(arguments: list[str]) -> int:
    """Run and print the counts; 1 where anything went wrong."""
    options = {"N": 2000, "SEED": 1, "LARGE": LARGE, "JOBS": os.cpu_count() or 1}
    options |= {name: int(value) for name, _, value in (text.partition("=") for text in arguments)}
    began = time.monotonic()
    total = fuzz(options["N"], options["SEED"], options["JOBS"], options["LARGE"])
    seconds = time.monotonic() - began
    wrong = sum(total[name] for name in COUNTS)
    print(
        f"{total['histories']:,} histories, {total['requests']:,} requests, {total['compacted']:,} compacted, "
        f"{total['refused']:,} refused rightly or not, {seconds:.0f} s, seed {options['SEED']}"
    )
    print(", ".join(f"{total[name]} {name.replace('_', ' ')}" for name in COUNTS))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
