"""What context management costs over a long conversation, in the measurement that `make bench` prints."""

from langchain_core.messages import HumanMessage

from benchmarks.context import Ledger, managed, summarised, trimmed
from utils.messages.counter import MessageCounter


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


def test_a_beginning_that_changes_without_a_compaction_is_counted():
    ledger, counter = Ledger(), MessageCounter()
    for text in ("a", "b"):
        ledger.record([HumanMessage(text)], counter, compacted=False)
    assert (ledger.broken, ledger.stable) == (1, 0.0)
