"""Schedules find every deliberate break of the product, and nothing where it is whole; a seed replays its schedule."""

from __future__ import annotations

import pytest

from benchmarks.simulate.__main__ import main
from benchmarks.simulate.breaks import BREAKS, REPLICA_BREAKS, broken
from benchmarks.simulate.schedule import run_schedule

pytestmark = pytest.mark.long

FEW = 120
"""Schedules within which each break was seen; `make simulate BREAK=…` tries 2,000."""

FROM = {"no-fence": 25, "lost-wake-up": 8, "lease-kept-by-the-dead": 9, "reader-skips": 11, "runs-twice": 100}
"""The first seed that is tried, where it is not 1: a break that few schedules show is seen soon."""

REPLICAS_FROM = {"lost-answer-forgotten": 110, "stray-left": 3}
"""The same with two replicas."""

WITHIN = 300
"""How many schedules of two replicas are tried at most: a change of the engine moves which of them shows a break."""

FOUND_REPLICAS = [
    20,
    44,
    57,
    93,
    224,
    383,
    393,
    28,
    643,
    1255,
    1466,
    50078,
    50830,
    52416,
    52479,
    201034,
    201044,
    202060,
    701629,
    702290,
    920487,
]
"""Seeds of schedules of two replicas that broke an invariant before the product was mended."""

FOUND = [307274, 86, 136, 154, 190, 240, 350]
"""Seeds of schedules that broke an invariant before the product was mended."""


@pytest.mark.parametrize("name", list(BREAKS))
def test_a_deliberate_break_is_found_within_some_schedules(name: str):
    with broken(name):
        first = FROM.get(name, 1)
        assert any(run_schedule(seed).faults for seed in range(first, first + FEW))


@pytest.mark.parametrize("name", list(REPLICA_BREAKS))
def test_two_replicas_show_a_deliberate_break_within_some_schedules(name: str):
    with broken(name):
        first = REPLICAS_FROM.get(name, 1)
        assert any(run_schedule(seed, 2).faults for seed in range(first, first + WITHIN))


@pytest.mark.parametrize("seed", FOUND_REPLICAS)
def test_a_schedule_of_two_replicas_that_once_broke_an_invariant_breaks_none(seed: int):
    assert run_schedule(seed, 2).faults == []


@pytest.mark.parametrize("seed", FOUND)
def test_a_schedule_that_once_broke_an_invariant_breaks_none(seed: int):
    assert run_schedule(seed).faults == []


@pytest.mark.parametrize(("seed", "engines"), [(8, 1), (9, 1), (12, 1), (14, 1), (5, 2), (44, 2), (388, 2)])
def test_a_seed_replays_its_schedule_step_by_step(seed: int, engines: int):
    first, again = run_schedule(seed, engines), run_schedule(seed, engines)
    assert first.trace == again.trace
    assert first.steps == again.steps


def test_a_run_prints_a_violation_with_its_seed_and_what_happened(capsys: pytest.CaptureFixture[str]):
    assert main(["N=5", "SEED=1", "JOBS=1", "BREAK=two-ends"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("violation, seed ")
    assert any("make simulate SEED=" in line for line in lines)
    assert lines[-1].startswith("two-ends: found after ")


def test_a_run_of_two_engines_says_so_and_how_to_see_a_schedule_again(capsys: pytest.CaptureFixture[str]):
    assert main(["N=3", "SEED=1", "JOBS=1", "ENGINES=2"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 schedules, 2 engines, 0 violations"
    assert main(["N=4", "SEED=1", "JOBS=1", "ENGINES=2", "BREAK=two-ends"]) == 0
    assert "make simulate ENGINES=2 SEED=" in capsys.readouterr().out


def test_a_run_without_violations_says_so_and_ends_with_zero(capsys: pytest.CaptureFixture[str]):
    assert main(["N=3", "SEED=1", "JOBS=1", "BREAK="]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 schedules, 0 violations"
