"""Conversations whose state an earlier version stored."""

from langchain_core.messages import AIMessage, HumanMessage

from tests.e2e.context.test_middleware import CONFIG, Bench, Brain
from utils.testing.strict_provider import Reply, run_strict_provider

STORED = {
    "compaction": {
        "through": "a1",
        "summary": "The deploy failed at step 9.",
        "shelf": [["art_0123456789ab", "get_log"]],
        "replaced": {"h2": {"content": "And [left out] now?", "handle": "art_ba9876543210"}},
        "given": ["art_0123456789ab", "art_ba9876543210"],
        "count": 3,
    },
    "pinned": [["Fridays are for shipping.", "h1"]],
}
"""The keys `compaction` and `pinned` of a checkpoint, as version 0.1.0 writes them."""

HISTORY = [
    HumanMessage("Fridays are for shipping. How is the deploy?", id="h1"),
    AIMessage("It failed.", id="a1"),
    HumanMessage("And " + "now " * 90, id="h2"),
    AIMessage("It runs.", id="a2"),
]


async def test_a_conversation_goes_on_from_the_decisions_that_an_earlier_version_stored(
    tmp_path, monkeypatch
):
    with run_strict_provider(Brain([Reply("Fine.")])) as double:
        bench = Bench(double, "openai", tmp_path, monkeypatch)
        await bench.graph.aupdate_state(CONFIG, {"messages": HISTORY, **STORED}, as_node="model")
        await bench.say("Thanks.")
        system, *shown = [message.text for message in double.requests[0].messages]
    assert "- Fridays are for shipping." in system
    assert "The deploy failed at step 9." in system
    assert "art_0123456789ab (get_log)" in system
    assert shown == ["And [left out] now?", "It runs.", "Thanks."]
    assert (await bench.state())["compaction"] == STORED["compaction"]
    assert (await bench.state())["pinned"] == STORED["pinned"]
