from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata

from tests.unit.context.conversations import COUNTER, calls, human
from utils.messages import counter as counting
from utils.messages.counter import MessageCounter, calibrate, encoding_for, with_count
from utils.messages.tokens import count_message_tokens, count_messages_tokens


def test_a_remembered_count_is_the_count_and_follows_a_change_of_content():
    counter = MessageCounter()
    for message in (
        human("hello"),
        calls("a", "b", text="x"),
        HumanMessage([{"type": "text", "text": "hi"}], id="h"),
    ):
        assert counter.message(message) == counter.message(message) == count_message_tokens(message)
    assert counter.message(human("hello there, you")) == count_message_tokens(human("hello there, you"))
    other = calls("a", "b", text="x").model_copy(
        update={"tool_calls": [{"name": "get", "args": {"q": "much longer than before"}, "id": "a"}]}
    )
    assert counter.message(other) == count_message_tokens(other)


def test_a_full_memo_drops_the_counts_that_were_not_used_lately(monkeypatch):
    tokenised = []

    def counted(message, encoding, charges):
        tokenised.append(message.id)
        return count_message_tokens(message, encoding, charges)

    monkeypatch.setattr(counting, "count_message_tokens", counted)
    counter = MessageCounter(remembered=4)
    for number in range(40):
        counter.message(human("the one in use", "kept"))
        counter.message(human(f"number {number}", f"h{number}"))
    assert tokenised == ["kept", *(f"h{number}" for number in range(40))]
    counter.message(human("number 0", "h0"))
    assert tokenised[-1] == "h0"


def test_a_memo_keeps_no_text():
    counter = MessageCounter()
    counter.message(calls("a", text="the user's secret"))
    counter.message(HumanMessage([{"type": "text", "text": "the user's secret"}], id="h"))
    counter.text("the user's secret " * 2_000)
    assert "secret" not in str(vars(counter))


def test_a_marker_of_the_model_in_a_text_counts_as_text():
    assert COUNTER.text("<|endoftext|>") > 1


def test_before_the_first_answer_the_providers_pessimistic_ratio_holds():
    assert calibrate([human("hi")], "aws-bedrock").ratio == 1.35
    assert calibrate([human("hi")], "openai").ratio == 1.0
    assert calibrate([human("hi")], "somebody").ratio > 1.2


def test_after_an_answer_the_reported_usage_decides_within_two_percent_and_not_below():
    usage = {"input_tokens": 1_180, "output_tokens": 5, "total_tokens": 1_185}
    talk = [human("hi"), with_count(AIMessage("yes", usage_metadata=usage), 1_000), human("more", "h2")]
    charged = calibrate(talk, "aws-bedrock").charged(1_000)
    assert 1_180 <= charged <= 1_180 * 1.02


def test_models_are_counted_with_their_own_encoding():
    assert encoding_for("gpt-4-turbo") == encoding_for("gpt-4") == "cl100k_base"
    assert encoding_for("gpt-4o") == encoding_for("gpt-4.1") == encoding_for(None) == "o200k_base"


def test_a_request_costs_its_messages_and_the_opening_of_the_answer():
    talk = [SystemMessage("s"), human("hi")]
    assert COUNTER.messages(talk) == count_messages_tokens(talk)


def test_a_ratio_measured_on_a_short_request_does_not_make_a_large_new_result_cheap():
    usage = UsageMetadata(input_tokens=441, output_tokens=9, total_tokens=450)
    answer = with_count(AIMessage("", usage_metadata=usage), 620)
    assert calibrate([answer], "aws-bedrock").ratio < 0.75
    page = HumanMessage('{"number": 1} ' * 100_000)
    assert calibrate([answer, page], "aws-bedrock").ratio > 1.3
    assert calibrate([answer, page], "openai").ratio > 0.99


def measured(reported, counted=5_000):
    usage = UsageMetadata(input_tokens=reported, output_tokens=9, total_tokens=reported + 9)
    return with_count(AIMessage("", usage_metadata=usage), counted)


def test_a_reported_usage_that_cannot_be_is_not_believed_and_the_one_before_it_holds():
    assert calibrate([measured(750_000)], "openai-compatible").ratio == 1.25
    assert calibrate([measured(500)], "openai-compatible").ratio == 1.25
    assert 1.09 < calibrate([measured(5_500), measured(750_000)], "openai").ratio < 1.12
    assert 1.09 < calibrate([measured(5_500), measured(100)], "openai").ratio < 1.12
