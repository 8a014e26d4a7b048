"""What summaries cost is counted, whatever the server reports of it."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.messages import HumanMessage

from utils.context.called_usage import summary_usage
from utils.events import Usage
from utils.messages.counter import MessageCounter
from utils.testing.scripted_model import ScriptedModel, ScriptedReply

ASKED = [HumanMessage("Summarise this: " + "the pods of the staging cluster were restarted. " * 40)]
SAID = "The pods were restarted."


def own_count() -> Usage:
    counter = MessageCounter()
    return Usage(input_tokens=counter.messages(ASKED), output_tokens=counter.text(SAID))


async def used(*replies: ScriptedReply) -> Usage | None:
    model = ScriptedModel(script=list(replies))
    with summary_usage() as usage:
        await asyncio.gather(*(model.ainvoke(ASKED) for _ in replies))
    return usage.total


async def test_a_report_that_can_be_right_is_believed() -> None:
    near = own_count().input_tokens + 20
    assert await used(ScriptedReply(text=SAID, usage=Usage(near, 9))) == Usage(near, 9)


@pytest.mark.parametrize("share", [0.01, 100])
async def test_a_report_that_cannot_be_right_is_replaced_by_our_count(share: float) -> None:
    told = Usage(int(own_count().input_tokens * share), 9)
    assert (
        await used(ScriptedReply(text=SAID, usage=told)) or Usage()
    ).input_tokens == own_count().input_tokens


async def test_calls_side_by_side_are_added_up() -> None:
    near = own_count().input_tokens
    replies = [ScriptedReply(text=SAID, usage=Usage(near, number)) for number in (1, 2, 3)]
    assert await used(*replies) == Usage(3 * near, 6)


async def test_nothing_is_used_where_no_model_was_asked() -> None:
    assert await used() is None
