"""An answer is for the question that it was admitted for: where the task asks another one by then, it is refused and changes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from a2a.server.agent_execution import RequestContext
from a2a.server.events.event_queue import EventQueue
from a2a.utils.errors import UnsupportedOperationError

from tests.unit.engine.turns import Executor, House, status_of, task_of, turn
from utils.a2a_common.tasks.turn import Turn, decode_turn, encode_turn

FIRST, SECOND = "May I delete a?", "May I delete b?"


async def ask(context: RequestContext, queue: EventQueue) -> None:
    """An executor's work: one question after the other; each has its words as the id of its message."""
    if context.current_task is None:
        await queue.enqueue_event(task_of(context))
        await queue.enqueue_event(status_of(context, "input_required", FIRST))
    else:
        await queue.enqueue_event(status_of(context, "input_required", SECOND))


def answering(question: str, message_id: str) -> Turn:
    """An answer that was admitted for a question, as the next process reads it too."""
    return decode_turn(encode_turn(replace(turn("a", message_id=message_id), question=question)))


async def test_of_two_answers_that_were_admitted_for_one_question_the_second_is_refused() -> None:
    house = House(Executor(ask))
    await house.submit(turn("a"))
    assert await house.settled("a") == ["input_required"]
    await house.submit(answering(FIRST, "yes-1"))
    assert await house.settled("a") == ["input_required"]
    with pytest.raises(UnsupportedOperationError, match="not open any more"):
        await house.submit(answering(FIRST, "yes-2"))
    assert house.executor.began == ["a", "a"]
    await house.submit(answering(SECOND, "yes-3"))
    assert await house.settled("a") == ["input_required"]
    assert house.executor.began == ["a", "a", "a"]
    await house.engine.drain(0)
