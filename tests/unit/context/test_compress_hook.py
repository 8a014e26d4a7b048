import json

from langchain.agents import create_agent
from langchain.agents.middleware import before_model
from langchain_core.tools import tool
from structlog.testing import capture_logs

from tests.unit.context.conversations import COUNTER, RecordingSummariser, calls, human, result
from utils.context.compress_tool_results import make_compressor
from utils.context.rendering import full_text
from utils.testing.scripted_model import ScriptedModel


def articles(count: int, words: int) -> str:
    return json.dumps(
        {"articles": [{"title": f"T{i}", "url": "u", "content": f"word{i} " * words} for i in range(count)]}
    )


TALK = [human("why?"), calls("a"), result("a", articles(7, 900)), calls("b"), result("b", articles(7, 900))]


async def test_under_the_threshold_nothing_is_done():
    hook = make_compressor(200_000, RecordingSummariser())
    assert await hook({"messages": TALK}, None) is None


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
