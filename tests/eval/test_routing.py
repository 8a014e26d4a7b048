"""Floors under the figures of `python -m tests.eval.routing`, on both splits."""

import pytest

from tests.eval import routing


@pytest.fixture(scope="module")
def chat():
    return routing.model()


@pytest.mark.parametrize("split", routing.SPLITS)
@pytest.mark.parametrize("written", [False, True], ids=["agents-own-tools", "written-tools"])
def test_nine_requests_in_ten_go_to_the_right_tools_with_the_right_arguments(chat, split, written):
    outcomes = routing.routing_outcomes(chat, split, written=written)
    filled = [outcome.arguments for outcome in outcomes if outcome.arguments is not None]
    assert len(outcomes) == 52
    assert routing.share([outcome.routed for outcome in outcomes]) >= 0.9
    assert routing.share(filled) >= 0.9


@pytest.mark.parametrize("split", routing.SPLITS)
def test_every_answer_contains_its_source_and_nothing_else(chat, split):
    failed = [outcome.detail for outcome in routing.answer_outcomes(chat, split) if not outcome.routed]
    assert failed == []
