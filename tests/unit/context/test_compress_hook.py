import json
from dataclasses import replace

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware, before_model
from langchain_core.tools import tool
from structlog.testing import capture_logs

from tests.unit.context.conversations import COUNTER, RecordingSummariser, calls, human, result
from utils.context.compress_tool_results import make_compressor
from utils.context.policy import rag
from utils.context.rendering import full_text
from utils.testing.scripted_model import ScriptedModel


def articles(count: int, words: int) -> str:
    return json.dumps(
        {"articles": [{"title": f"T{i}", "url": "u", "content": f"word{i} " * words} for i in range(count)]}
    )


TALK = [human("why?"), calls("a"), result("a", articles(7, 900)), calls("b"), result("b", articles(7, 900))]


class Guided(RecordingSummariser):
    """A summariser that keeps what it was told of each article."""

    def __init__(self):
        super().__init__()
        self.told = []

    async def shorten(self, text, *, title, guidance, max_tokens):
        self.told.append((title, guidance, COUNTER.text(text), max_tokens))
        return await super().shorten(text, title=title, guidance=guidance, max_tokens=max_tokens)


def compressed(messages) -> list[list[int]]:
    """The places of the compressed articles in each tool result."""
    lists = [json.loads(full_text(m))["articles"] for m in messages if m.type == "tool"]
    return [
        [place for place, row in enumerate(rows) if row.get("metadata", {}).get("compressed")]
        for rows in lists
    ]


def of_window(window: int, summariser=None):
    """The hook for a small window of which no room is kept for the answer, so that its shares are the preset's."""
    policy = replace(rag(window), output_reserve=1, margin=0)
    return make_compressor(window, summariser or RecordingSummariser(), policy=policy)


def smallest_window_of(tokens: int) -> int:
    """The smallest window of which `tokens` tokens are not over 85 %."""
    return next(window for window in range(tokens, 2 * tokens) if int(window * 0.85) >= tokens)


async def test_at_eighty_five_percent_nothing_is_done_and_one_token_over_it_something():
    window = smallest_window_of(COUNTER.messages(TALK))
    assert await of_window(window)({"messages": TALK}, None) is None
    assert await of_window(window - 2)({"messages": TALK}, None) is not None


async def test_no_more_is_compressed_than_brings_it_to_eighty_percent():
    window = smallest_window_of(COUNTER.messages(TALK)) - 2
    update = await of_window(window)({"messages": TALK}, None)
    assert update is not None
    saved_by_one = 1_801 * 0.7
    assert 0.80 - saved_by_one / window < COUNTER.messages(update["messages"]) / window <= 0.80


@pytest.mark.parametrize(
    ("over", "places"),
    [(1.0, [[], [5, 6]]), (1.1, [[], [3, 4, 5, 6]]), (1.5, [[4, 5, 6], [1, 2, 3, 4, 5, 6]])],
)
async def test_the_last_article_of_the_last_result_is_compressed_first_and_the_first_one_never(over, places):
    window = int((smallest_window_of(COUNTER.messages(TALK)) - 2) / over)
    update = await of_window(window)({"messages": TALK}, None)
    assert update is not None
    assert compressed(update["messages"]) == places


async def test_each_article_is_shortened_to_thirty_percent_for_the_users_question():
    summariser = Guided()
    await make_compressor(8_000, summariser)({"messages": TALK}, None)
    assert {title for title, *_ in summariser.told} <= {f"T{place}" for place in range(1, 7)}
    assert all(guidance == "why?" for _, guidance, _, _ in summariser.told)
    assert all(target == int(tokens * 0.30) for *_, tokens, target in summariser.told)
    assert len(summariser.told) > 3


@pytest.mark.parametrize("compresses", [True, False])
async def test_before_langchains_own_summary_it_makes_that_summary_needless(compresses):
    @tool
    async def retrieve_context(n: int) -> str:
        """Find articles."""
        return articles(7, 900)

    asked = [calls("a", name="retrieve_context"), calls("b", name="retrieve_context")]
    answers = iter(["The answer."])
    model = ScriptedModel.of(*asked, "The answer.")
    writer = ScriptedModel(script=lambda _messages: next(answers))
    window = 12_000

    def counted(messages) -> int:
        return COUNTER.messages(messages)

    first = before_model(make_compressor(window, RecordingSummariser()))
    then = SummarizationMiddleware(
        writer, trigger=("tokens", int(window * 0.9)), keep=("messages", 1), token_counter=counted
    )
    middleware = [first, then] if compresses else [then]
    agent = create_agent(model, tools=[retrieve_context], middleware=middleware)
    state = await agent.ainvoke({"messages": [human("why?")]})
    assert state["messages"][-1].content == "The answer."
    assert len(writer.requests) == (0 if compresses else 1)


async def test_over_it_the_last_articles_of_the_last_result_shrink_in_place_and_the_log_says_so():
    before = COUNTER.messages(TALK)
    window = int(before / 1.1)
    summariser = RecordingSummariser()
    with capture_logs() as logs:
        update = await make_compressor(window, summariser)({"messages": TALK}, None)
    assert update is not None
    assert [m.id for m in update["messages"]] == [m.id for m in TALK]
    assert COUNTER.messages(update["messages"]) <= int(window * 0.8)
    rows = json.loads(full_text(update["messages"][4]))["articles"]
    assert "metadata" not in rows[0]
    assert rows[-1]["metadata"]["compressed"] is True
    messages = [entry.get("message", "") for entry in logs]
    levels = {entry["message"].split()[0]: entry["log_level"] for entry in logs if "message" in entry}
    assert [levels[word] for word in ("Context", "Compressed", "Compression")] == ["warning", "info", "info"]
    assert f"Context at {before} tokens (" in messages[0]
    assert messages[0].endswith(f"of {window} window), compressing tool results")
    assert messages[1].startswith("Compressed article 'T6': ")
    assert any(m.startswith("Compression complete: saved ") for m in messages)


async def test_results_that_cannot_be_read_are_left_alone():
    talk = [human("why?"), calls("a"), result("a", '{"articles": [' + "x " * 4_000)]
    assert await make_compressor(1_000, RecordingSummariser())({"messages": talk}, None) is None


async def test_it_is_a_before_model_hook_of_an_agent():
    @tool
    async def retrieve_context(n: int) -> str:
        """Find articles."""
        return articles(7, 900)

    model = ScriptedModel.of(calls("a", name="retrieve_context"), "The answer.")
    hook = before_model(make_compressor(8_000, RecordingSummariser()))
    agent = create_agent(model, tools=[retrieve_context], middleware=[hook])
    state = await agent.ainvoke({"messages": [human("why?")]})
    assert state["messages"][-1].content == "The answer."
    assert "compressed" in str(state["messages"][2].content)
    assert len(state["messages"]) == 4
