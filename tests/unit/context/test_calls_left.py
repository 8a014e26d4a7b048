"""The thresholds of a turn follow the model calls that it has left."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from langchain.agents.middleware import ModelRequest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from tests.unit.context.conversations import COUNTER, RecordingSummariser, calls, human
from utils.context.pipeline import Parts, Prepared, Request, prepare
from utils.context.policy import standard
from utils.context.task_meter import calls_left
from utils.resilience.budget import Budget, Meter

WINDOW = 40_000


def looking_up(times: int, words: int = 2_600) -> list[BaseMessage]:
    """A turn that has looked up something again and again."""
    found = f"value {'fact ' * words}"
    pairs = [
        (calls(f"c{n}"), ToolMessage(found, tool_call_id=f"c{n}", name="get", id=f"r{n}"))
        for n in range(times)
    ]
    return [human("What is known?"), *(message for pair in pairs for message in pair)]


async def with_calls_left(left: int | None, talk: list[BaseMessage]) -> Prepared:
    policy = replace(standard(WINDOW), max_tool_output=100_000)
    return await prepare(Request(talk, calls_left=left), policy, Parts(COUNTER, RecordingSummariser()))


async def test_results_are_cleared_early_only_where_the_calls_that_are_left_can_fill_the_rest():
    talk = looking_up(10)
    many, unlimited = await with_calls_left(8, talk), await with_calls_left(None, talk)
    assert [step.strategy for step in many.report.steps] == ["clear"]
    assert unlimited.report.steps == many.report.steps
    for left in (0, 1):
        done = await with_calls_left(left, talk)
        assert done.report.steps == (), left
        assert done.report.after > standard(WINDOW).tokens(standard(WINDOW).clear_at)
        assert done.report.after <= standard(WINDOW).input_budget


async def test_a_last_call_that_is_over_its_budget_is_made_to_fit_all_the_same():
    done = await with_calls_left(0, looking_up(16))
    assert done.report.before > standard(WINDOW).input_budget
    assert done.report.after <= standard(WINDOW).input_budget
    assert done.report.violations == ()


async def test_a_turn_that_has_called_nothing_yet_keeps_its_thresholds():
    talk = [*looking_up(10), AIMessage("That is all.", id="said"), human("And now?", "h2")]
    done = await with_calls_left(2, talk)
    assert [step.strategy for step in done.report.steps] == ["clear"]


def asked(messages: list[BaseMessage], meter: Meter | None = None) -> ModelRequest[Any]:
    context = SimpleNamespace(meter=meter)
    return cast(
        "ModelRequest[Any]", SimpleNamespace(messages=messages, runtime=SimpleNamespace(context=context))
    )


@pytest.mark.parametrize(
    ("most", "budget", "used", "left"),
    [
        (None, None, 0, None),
        (10, None, 0, 7),
        (3, None, 0, 0),
        (10, Budget(steps=6), 3, 2),
        (None, Budget(steps=6), 3, 2),
        (10, Budget(steps=4), 3, 0),
        (10, Budget(tokens=100), 3, 7),
    ],
)
def test_calls_are_left_by_the_turns_limit_and_the_tasks_budget(
    most: int | None, budget: Budget | None, used: int, left: int | None
):
    meter = None if budget is None else Meter(budget, steps=used)
    assert calls_left(asked(looking_up(2), meter), most) == left


def test_a_budget_of_tokens_that_is_nearly_used_up_leaves_no_call():
    meter = Meter(Budget(tokens=100))
    meter.add(replace(meter.usage, input_tokens=95))
    assert calls_left(asked(looking_up(2), meter), 10) == 0
