import pytest
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage

from tests.property.context.rules import refusals
from tests.unit.context.conversations import calls, human, result, shape
from utils.messages.repair import INTERRUPTED, repair


def repaired(*messages):
    return repair(messages).messages


def test_an_orphan_call_gets_one_synthetic_result_directly_after_it_and_its_siblings_keep_theirs():
    fixed = repair([human("go"), calls("a", "b", "c"), result("a"), result("c"), human("next", "h2")])
    assert shape(fixed.messages) == ["h", "ai-a-b-c", "a", "b", "c", "h2"]
    assert fixed.messages[3].content == INTERRUPTED
    assert fixed.interrupted == ("b",)


def test_shuffled_results_return_to_their_calls_in_order():
    assert shape(repaired(human("go"), calls("a", "b"), result("b"), human("x", "h2"), result("a"))) == [
        "h", "ai-a-b", "a", "b", "h2",
    ]  # fmt: skip


def test_a_result_that_stands_before_its_call_is_not_lost():
    assert repaired(human("go"), result("a", "early"), calls("a"))[2].content == "early"


def test_stray_and_duplicate_results_are_dropped_and_counted():
    fixed = repair([human("go"), calls("a"), result("a", "first"), result("a", "again"), result("nobody")])
    assert shape(fixed.messages) == ["h", "ai-a", "a"]
    assert fixed.messages[2].content == "first"
    assert fixed.dropped == 2


def test_a_late_real_result_replaces_the_synthetic_one():
    first = repaired(human("go"), calls("a"))
    assert repaired(*first, result("a", "late"))[2].content == "late"


def test_an_id_used_again_in_a_later_turn_becomes_a_new_one_with_its_own_result():
    fixed = repaired(
        human("one"),
        calls("a"),
        result("a", "1"),
        human("two", "h2"),
        calls("a", message="again"),
        result("a", "2"),
    )
    ids = [call["id"] for m in fixed if isinstance(m, AIMessage) for call in m.tool_calls]
    assert len(set(ids)) == 2
    assert [m.content for m in fixed if isinstance(m, ToolMessage)] == ["1", "2"]
    assert refusals(fixed) == []


def test_system_messages_in_the_middle_join_the_one_in_front():
    fixed = repaired(SystemMessage("A"), human("go"), SystemMessage("B"), AIMessage("done"), human("x", "h2"))
    assert [m.type for m in fixed] == ["system", "human", "ai", "human"]
    assert fixed[0].content == "A\n\nB"


def test_a_call_with_malformed_arguments_becomes_a_sentence_that_no_client_sends_as_a_call():
    broken = {"name": "get", "args": "{oops", "id": "x", "error": "", "type": "invalid_tool_call"}
    message = AIMessage("", invalid_tool_calls=[broken], additional_kwargs={"tool_calls": [{"id": "x"}]})
    fixed = repaired(human("go"), message, human("x", "h2"))
    assert "malformed" in str(fixed[1].content)
    assert refusals(fixed) == []


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [AIMessage("Hello, I am here.")],
        [human("go"), AIMessage("done")],
        [human(""), human("go", "h2")],
        [HumanMessage([{"type": "text", "text": " "}, "bare"])],
        [human("go"), AIMessage(""), human("x", "h2")],
        [human("go"), calls("a"), result("a", "")],
        [human("go"), calls("strange id! " * 9, name="no such tool?"), human("x", "h2")],
        [
            human("go"),
            AIMessage([{"type": "tool_use", "id": "ghost", "name": "get", "input": {}}]),
            human("x", "h2"),
        ],
        [
            ChatMessage(content="hi", role="user"),
            ChatMessage(content="yes", role="assistant"),
            ChatMessage(content="go", role="user"),
        ],
    ],
)
def test_whatever_happened_three_providers_accept_the_repaired_history(messages):
    fixed = repair(messages).messages
    assert [r for r in refusals(fixed) if "undeclared_tool" not in r] == []
    assert repair(fixed).messages == fixed


def test_a_sound_conversation_is_left_alone_message_by_message():
    talk = [SystemMessage("s"), human("go"), calls("a"), result("a"), AIMessage("done"), human("x", "h2")]
    assert all(new is old for new, old in zip(repair(talk).messages, talk, strict=True))
