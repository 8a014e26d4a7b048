from __future__ import annotations

from collections.abc import Container

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from multi_agents.platform_engineer.passed_answer import passed_answer, whole_answer
from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.graph.run.stream_translator import StreamTranslator
from utils.events import TextDelta
from utils.messages.marks import FULL_OUTPUT, ORIGIN, WHOLE_ANSWER
from utils.testing.scripted_model import call


def turn(said: object = "List a", request: str = "List a", **marks: object) -> list[BaseMessage]:
    result = ToolMessage(
        "a is 1", tool_call_id="call_keys", name="keys", additional_kwargs=WHOLE_ANSWER.entry(True)
    )
    return [
        HumanMessage(said, id="m1"),  # type: ignore[call-overload]
        AIMessage("", tool_calls=[call("keys", request=request)]),
        result.model_copy(update=marks),
    ]


def test_the_agents_words_are_the_answer_and_carry_its_name() -> None:
    answer = passed_answer(turn(), {})
    assert answer is not None
    assert (answer.text, answer.response_metadata) == ("a is 1", ORIGIN.entry("keys"))


def test_a_resumed_turn_that_had_ended_tells_whose_words_they_are() -> None:
    answer = passed_answer(turn(), {})
    assert answer is not None
    assert StreamTranslator("supervisor").repeat(answer) == [TextDelta("a is 1", "keys")]


def test_what_is_not_the_whole_answer_is_not_passed_on() -> None:
    picture = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}
    handle = "art_0123456789ab"
    for messages in (
        turn(request="List b"),
        turn(said=[{"type": "text", "text": "List a"}, picture]),
        turn(status="error"),
        turn(content=" "),
        turn(additional_kwargs={}),
        turn(additional_kwargs={**WHOLE_ANSWER.entry(True), **FULL_OUTPUT.entry(handle)}),
        turn()[1:],
        [*turn(), AIMessage("Done.")],
        [],
    ):
        assert passed_answer(messages, {}) is None


def test_a_rule_that_was_found_or_added_is_the_supervisors_to_keep() -> None:
    rule = "We ship on Fridays only."
    assert passed_answer(turn(rule, rule), {"pinned": [[rule, "m1"]]}) is None
    assert passed_answer(turn(), {"rules": [["add", "Answer in French.", ""]]}) is None


def test_only_a_plain_answer_of_our_own_agent_is_whole() -> None:
    class Said(TaskView):
        def text(self, takes: Container[str] = ()) -> str:
            return "a is 1"

    assert whole_answer(Said(), own=True, asked=False) == WHOLE_ANSWER.entry(True)
    assert whole_answer(Said(), own=False, asked=False) == {}
    assert whole_answer(Said(), own=True, asked=True) == {}
    assert whole_answer(TaskView(), own=True, asked=False) == {}
