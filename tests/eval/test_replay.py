"""A conversation of a hundred turns in a tenth of its tokens: what a request costs less, and whether its tasks end right."""

from __future__ import annotations

import pytest

from tests.eval.bfcl import DataMissingError
from tests.eval.replay import TURNS, Result, compare, conversations, in_turn
from tests.eval.tasks import Task, tasks
from utils.messages.counter import MessageCounter


@pytest.fixture(scope="module")
def conversation() -> list[tuple[Task, int]]:
    try:
        return list(in_turn(conversations(tasks())[0]))
    except DataMissingError as error:
        pytest.skip(str(error))


@pytest.fixture
async def results(conversation: list[tuple[Task, int]]) -> dict[str, Result]:
    assert len(conversation) >= TURNS
    return await compare(conversation, MessageCounter())


@pytest.mark.long
async def test_a_hundred_turns_cost_84_percent_fewer_input_tokens_and_their_tasks_end_right(
    results: dict[str, Result],
) -> None:
    whole, managed = results["unmanaged"], results["managed"]
    assert managed.sent <= 0.16 * whole.sent
    assert managed.right == managed.tasks == whole.right


@pytest.mark.long
async def test_with_the_extracts_of_the_embedded_model_they_cost_80_percent_fewer(
    results: dict[str, Result],
) -> None:
    whole, managed = results["unmanaged"], results["managed, long extracts"]
    assert managed.sent <= 0.2 * whole.sent
    assert managed.right == managed.tasks
