"""How far a turn is: every transition is listed with the stages that it may come in."""

from __future__ import annotations

from itertools import product

import pytest

from utils.a2a_common.engine.stage import OVER, TRANSITIONS, IllegalTransition, Stage, Transition, after


def reached(*transitions: Transition) -> Stage:
    stage = Stage.NEW
    for transition in transitions:
        stage = after(stage, transition)
    return stage


def test_a_turn_is_stored_runs_ends_and_is_closed() -> None:
    assert reached(Transition.STORE, Transition.BEGIN, Transition.END, Transition.CLOSE) is Stage.CLOSED


def test_a_turn_that_could_not_be_stored_ends_without_a_run() -> None:
    assert reached(Transition.END, Transition.CLOSE) is Stage.CLOSED


@pytest.mark.parametrize("before", [(), (Transition.STORE,)])
def test_a_turn_that_is_stopped_before_it_runs_never_begins(before: tuple[Transition, ...]) -> None:
    stopped = reached(*before, Transition.STOP)
    assert stopped is Stage.HALTED
    for transitions in ((), (Transition.STORE,), (Transition.STOP,)):
        with pytest.raises(IllegalTransition, match="halted"):
            reached(*before, Transition.STOP, *transitions, Transition.BEGIN)


def test_a_turn_may_be_stopped_at_any_time_and_again() -> None:
    for stage in Stage:
        once = after(stage, Transition.STOP)
        assert after(once, Transition.STOP) is once
        assert (once in OVER) == (stage in OVER)


def test_a_turn_ends_once_and_begins_once() -> None:
    for stage in Stage:
        for transition in (Transition.END, Transition.BEGIN):
            if stage in TRANSITIONS[transition]:
                with pytest.raises(IllegalTransition):
                    after(after(stage, transition), transition)


def test_nothing_leads_back_and_whatever_is_not_listed_is_refused() -> None:
    order = list(Stage)
    for stage, transition in product(Stage, Transition):
        if stage in TRANSITIONS[transition]:
            assert order.index(after(stage, transition)) >= order.index(stage)
        else:
            with pytest.raises(IllegalTransition):
                after(stage, transition)
