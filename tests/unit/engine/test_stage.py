"""How far a turn is: every step is listed with the stages that it may come in."""

from __future__ import annotations

from itertools import product

import pytest

from utils.a2a_common.engine.stage import OVER, STEPS, IllegalStep, Stage, Step, after


def reached(*steps: Step) -> Stage:
    stage = Stage.NEW
    for step in steps:
        stage = after(stage, step)
    return stage


def test_a_turn_is_stored_runs_ends_and_is_closed() -> None:
    assert reached(Step.STORE, Step.BEGIN, Step.END, Step.CLOSE) is Stage.CLOSED


def test_a_turn_that_could_not_be_stored_ends_without_a_run() -> None:
    assert reached(Step.END, Step.CLOSE) is Stage.CLOSED


@pytest.mark.parametrize("before", [(), (Step.STORE,)])
def test_a_turn_that_is_stopped_before_it_runs_never_begins(before: tuple[Step, ...]) -> None:
    stopped = reached(*before, Step.STOP)
    assert stopped is Stage.HALTED
    for steps in ((), (Step.STORE,), (Step.STOP,)):
        with pytest.raises(IllegalStep, match="halted"):
            reached(*before, Step.STOP, *steps, Step.BEGIN)


def test_a_turn_may_be_stopped_at_any_time_and_again() -> None:
    for stage in Stage:
        once = after(stage, Step.STOP)
        assert after(once, Step.STOP) is once
        assert (once in OVER) == (stage in OVER)


def test_a_turn_ends_once_and_begins_once() -> None:
    for stage in Stage:
        for step in (Step.END, Step.BEGIN):
            if stage in STEPS[step]:
                with pytest.raises(IllegalStep):
                    after(after(stage, step), step)


def test_nothing_leads_back_and_whatever_is_not_listed_is_refused() -> None:
    order = list(Stage)
    for stage, step in product(Stage, Step):
        if stage in STEPS[step]:
            assert order.index(after(stage, step)) >= order.index(stage)
        else:
            with pytest.raises(IllegalStep):
                after(stage, step)
