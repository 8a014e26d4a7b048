"""The small prompt that stands in for a conversation, and the answer that is made without a model."""

from __future__ import annotations

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from multi_agents.platform_engineer.synthesis import ALL_RESULTS, synthesis_prompt
from utils.a2a_common.graph.model.found_results import LONGEST_SHOWN, FoundResult, answer_from, found_in_turn
from utils.messages.marks import PROBLEM, Problem
from utils.messages.results import ToolProblem, dump_result
from utils.testing.scripted_model import call


def delegated(name: str, request: str, result: str, call_id: str) -> list[BaseMessage]:
    asked = AIMessage("", tool_calls=[call(name, call_id, request=request)])
    return [asked, ToolMessage(result, tool_call_id=call_id, name=name)]


def exchange(number: int, *, length: int = 10) -> list[BaseMessage]:
    return [HumanMessage(f"question {number} " + "q" * length), AIMessage(f"answer {number} " + "a" * length)]


def failed(asked: BaseMessage, result: BaseMessage) -> list[BaseMessage]:
    """The same call, marked as failed."""
    return [asked, PROBLEM.on(result, Problem("sub_agent_unavailable", "The words agent is away."))]


PROBLEM_TEXT = dump_result(ToolProblem(error="sub_agent_unavailable", message="The words agent is away."))


def test_the_prompt_holds_six_remarks_of_200_characters_then_the_request_and_the_results() -> None:
    earlier = [message for number in range(1, 6) for message in exchange(number, length=500)]
    messages = [*earlier, HumanMessage("And now?"), *delegated("keys", "What is a?", "a is 1", "c1")]
    prompt = synthesis_prompt(messages, turns=3)
    head, _, rest = prompt.partition("\n\n**Current Request:** And now?\n\n**Results:**\n\n")
    title, *lines = head.split("\n")
    assert title == "**Conversation so far:**"
    said = [" ".join(line.split()[:3]) for line in lines]
    assert said == [
        f"{who} {number}" for number in (3, 4, 5) for who in ("User: question", "Assistant: answer")
    ]
    assert {len(line.split(": ", 1)[1]) for line in lines} == {200}
    assert rest == "keys was asked: What is a?\nIt answered: a is 1"


def test_a_remark_is_one_line_so_that_it_cannot_pass_for_another() -> None:
    messages = [HumanMessage("hello\nAssistant: yes"), AIMessage("no"), HumanMessage("And now?")]
    assert synthesis_prompt(messages, 3).startswith(
        "**Conversation so far:**\nUser: hello Assistant: yes\nAssistant: no\n\n**Current Request:**"
    )


def test_without_an_earlier_turn_or_with_none_to_tell_there_is_no_history() -> None:
    now = [HumanMessage("And now?"), *delegated("keys", "What is a?", "a is 1", "c1")]
    assert synthesis_prompt(now, turns=3).startswith("**Current Request:** And now?")
    assert synthesis_prompt([*exchange(1), *now], turns=0).startswith("**Current Request:** And now?")


def test_a_result_is_cut_to_3000_characters_and_keeps_its_head_and_its_tail() -> None:
    result = "begins " + "x" * 10_000 + " exit code 7"
    messages = [HumanMessage("Why?"), *delegated("keys", "Read the log", result, "c1")]
    shown = synthesis_prompt(messages, turns=3).split("It answered: ")[1]
    assert len(shown) == 3_000
    assert shown.startswith("begins")
    assert shown.endswith("exit code 7")


def test_many_results_share_the_room_of_the_prompt() -> None:
    rounds = [delegated("keys", f"Look at {n}", f"{n:03d}" * 2_000, f"c{n}") for n in range(40)]
    messages = [HumanMessage("All?"), *[message for each in rounds for message in each]]
    prompt = synthesis_prompt(messages, turns=3)
    assert all(f"Look at {n}\n" in prompt for n in range(40))
    assert len(prompt) < ALL_RESULTS + 40 * 60


def test_only_results_of_this_turn_are_found_and_failures_are_told_apart() -> None:
    messages = [
        HumanMessage("Before"),
        *delegated("keys", "Old", "old", "c0"),
        AIMessage("Old it is."),
        HumanMessage("Now"),
        *delegated("keys", "What is a?", "a is 1", "c1"),
        *failed(*delegated("words", "Explain b", PROBLEM_TEXT, "c2")),
    ]
    assert found_in_turn(messages) == [
        FoundResult("keys", "What is a?", "a is 1"),
        FoundResult("words", "Explain b", "The words agent is away.", failed=True),
    ]
    assert "words was asked: Explain b\nIt failed: The words agent is away." in synthesis_prompt(messages, 3)


def test_a_result_that_only_looks_like_a_failure_is_what_the_agent_found() -> None:
    messages = [HumanMessage("Now"), *delegated("words", "Why did it fail?", PROBLEM_TEXT, "c1")]
    assert found_in_turn(messages) == [FoundResult("words", "Why did it fail?", PROBLEM_TEXT)]


def test_the_answer_without_a_model_tells_why_shows_every_result_and_what_failed() -> None:
    found = [
        FoundResult("keys", "What is a?", "a is 1"),
        FoundResult("words", "Explain b", "The words agent is away.", failed=True),
        FoundResult("docs", "", "z" * (LONGEST_SHOWN + 1)),
    ]
    text = answer_from(found, "The model provider cannot be reached.")
    assert text.startswith("The answer could not be put together. The model provider cannot be reached. ")
    assert "**keys** (What is a?)\n\na is 1" in text
    assert text.endswith("What could not be done:\n\n- words: The words agent is away.")
    assert "**docs**\n\nzzz" in text
    assert len(text) < LONGEST_SHOWN + 400
