"""What the user has read beside a question of another agent stands in no answer of the offline model again."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from tests.eval import routing
from tests.eval.routing_tools import tools_of
from utils.messages.marks import SHOWN_BEFORE

SAID = "How do I add a sub-agent, and which open issues has acme/rocket?"
RESULTS = {"rag": "Run make new-agent.", "github": "Issue 7 is open."}


@pytest.fixture(scope="module")
def chat():
    return routing.model().bind_tools(tools_of("supervisor"))


def _answer(chat, read):
    """The answer, with the results of some agents marked as read where another result came last."""
    asked = [HumanMessage(SAID)]
    reply: AIMessage = chat.invoke(asked)
    ids = {call["name"]: call["id"] for call in reply.tool_calls}
    mark = SHOWN_BEFORE.entry([str(ids[name]) for name in read]) if read else {}
    results = [
        ToolMessage(
            RESULTS[name],
            tool_call_id=ids[name],
            name=name,
            additional_kwargs=mark if name not in read else {},
        )
        for name in RESULTS
    ]
    return chat.invoke([*asked, reply, *results]).text


def test_each_result_has_a_section_where_none_was_read(chat):
    text = _answer(chat, [])
    assert text.count("## ") == len(RESULTS)
    assert all(result in text for result in RESULTS.values())


@pytest.mark.parametrize("read", RESULTS)
def test_the_answer_is_what_was_not_read_yet(chat, read):
    (new,) = (result for name, result in RESULTS.items() if name != read)
    assert _answer(chat, [read]) == new
