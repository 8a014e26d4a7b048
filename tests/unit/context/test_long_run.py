"""What context management costs over a long conversation, in the measurement that `make bench` prints."""

import pytest
from langchain_core.messages import HumanMessage

from benchmarks.context import (
    SMALL_WINDOW,
    WINDOW,
    Ledger,
    managed,
    summarised,
    summarised_ahead,
    trimmed,
)
from utils.messages.counter import MessageCounter


@pytest.mark.slow
async def test_over_120_turns_the_prompt_cache_holds_and_at_most_two_summaries_are_written():
    counter = MessageCounter()
    ours, others = await managed(counter), [trimmed(counter), summarised(counter)]
    assert ours.requests >= 240
    assert ours.broken == 0  # 100 % of the beginning is unchanged between compactions
    assert ours.stable >= 0.92
    assert ours.summaries <= 2
    assert all(ours.cost < other.cost for other in others)
    assert others[0].broken > 50
    assert others[1].summaries > 2


@pytest.mark.slow
@pytest.mark.parametrize(("window", "share"), [(SMALL_WINDOW, 0.85), (WINDOW, 0.95)])
@pytest.mark.parametrize("replay", [managed, summarised_ahead])
@pytest.mark.long
async def test_most_of_each_request_is_a_beginning_that_the_provider_has_cached(replay, window, share):
    ledger = await replay(MessageCounter(), window)
    assert ledger.stable >= share
    assert ledger.summaries <= 4


def test_a_beginning_that_changes_without_a_compaction_is_counted():
    ledger, counter = Ledger(), MessageCounter()
    for text in ("a", "b"):
        ledger.record([HumanMessage(text)], counter, compacted=False)
    assert (ledger.broken, ledger.stable) == (1, 0.0)
