"""A schedule has its own clock and its own chance, and only in its own thread."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from benchmarks.simulate.__main__ import CHUNK
from benchmarks.simulate.schedule import _determined
from benchmarks.simulate.setting import Setting
from tests.style.sources import ROOT


def test_other_threads_keep_the_clock_of_the_machine_while_a_schedule_runs():
    before = time.time(), time.monotonic()
    seen: list[tuple[float, float]] = []
    with _determined(Setting(1)):
        virtual = time.monotonic()
        other = threading.Thread(target=lambda: seen.append((time.time(), time.monotonic())))
        other.start()
        other.join()
    after = time.time(), time.monotonic()
    assert virtual == 0
    assert [before[n] <= seen[0][n] <= after[n] for n in (0, 1)] == [True, True]


@pytest.mark.long
@pytest.mark.processes
def test_the_simulator_leaves_no_process_behind_that_holds_its_output_open():
    number = CHUNK + 1  # so many that they are divided
    command = [sys.executable, "-m", "benchmarks.simulate", f"N={number}", "SEED=1", "JOBS=2"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, cwd=ROOT)
    assert f"{number} schedules, 0 violations" in shown.stdout
