"""Runs a module and samples its main thread: `python -m benchmarks.service.sampled MODULE ARGUMENT…`.

A signal comes with each millisecond of processor time of the process. Begun and ended by SIGUSR1 and SIGUSR2; what was
sampled is then written to the file that the variable `BENCHMARK_SAMPLES` names: stacks with their counts, as JSON.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

SAMPLES = "BENCHMARK_SAMPLES"
INTERVAL_SECONDS = 0.001
_stacks: Counter[tuple[str, ...]] = Counter()


def _sample(_number: int, frame: FrameType | None) -> None:
    stack = []
    while frame is not None:
        code = frame.f_code
        stack.append(f"{code.co_filename}:{code.co_qualname}:{code.co_firstlineno}")
        frame = frame.f_back
    _stacks[tuple(stack)] += 1


def _begin(*_: object) -> None:
    _stacks.clear()
    signal.setitimer(signal.ITIMER_PROF, INTERVAL_SECONDS, INTERVAL_SECONDS)


def _end(*_: object) -> None:
    signal.setitimer(signal.ITIMER_PROF, 0)
    path = Path(os.environ[SAMPLES] + f".{os.getpid()}")
    path.with_suffix(".new").write_text(json.dumps([[stack, count] for stack, count in _stacks.items()]))
    path.with_suffix(".new").rename(path)


def main() -> None:
    """Run the module that the first argument names."""
    signal.signal(signal.SIGPROF, _sample)
    signal.siginterrupt(signal.SIGPROF, False)
    signal.signal(signal.SIGUSR1, _begin)
    signal.signal(signal.SIGUSR2, _end)
    module = sys.argv[1]
    sys.argv = [module, *sys.argv[2:]]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
