"""Results of delegations in the state, and requests that refer to them."""

from __future__ import annotations

from langchain_core.messages import AIMessage, HumanMessage

from multi_agents.platform_engineer.node_outputs import (
    LARGEST_DATA,
    LONGEST_QUOTE,
    MOST_TASKS,
    joined,
    number_of,
    output_of,
    quoted,
)
from utils.testing.scripted_model import call

OUTPUTS = {
    "github": {"1": output_of("three issues", [{"open": 3}], ""), "2": output_of("a pa", [], "art_1")},
    "rag": {"1": output_of("the docs", [1, 2], "")},
}


async def whole(handle: str) -> str | None:
    return {"art_1": "a pages long text"}.get(handle)


async def test_a_reference_becomes_the_text_of_the_result() -> None:
    assert await quoted("Sum up {result:github.1} and {result:rag.1}.", OUTPUTS, whole) == (
        "Sum up three issues and the docs."
    )


async def test_a_reference_to_a_shortened_result_becomes_its_whole_text() -> None:
    assert await quoted("{result:github.2}", OUTPUTS, whole) == "a pages long text"
    gone = {"github": {"2": output_of("a pa", [], "art_gone")}}
    assert await quoted("{result:github.2}", gone, whole) == "a pa"


async def test_data_is_quoted_as_json() -> None:
    assert await quoted("{result:github.1.data} {result:rag.1.data}", OUTPUTS, whole) == '{"open": 3} [1, 2]'


async def test_an_unknown_source_is_an_empty_text_and_no_error() -> None:
    text = "before {result:github.9}{result:nobody.1}{result:github.2.data} after"
    assert await quoted(text, OUTPUTS, whole) == "before  after"
    assert await quoted("{result:github.1}", None, whole) == ""


async def test_other_braces_are_the_users_own() -> None:
    text = "Render {{ .Values.x }} and {result} and {result:github}"
    assert await quoted(text, OUTPUTS, whole) == text


async def test_what_a_result_quotes_is_not_replaced_again() -> None:
    outputs = {"github": {"1": output_of("{result:rag.1}", [], "")}, "rag": OUTPUTS["rag"]}
    assert await quoted("{result:github.1}", outputs, whole) == "{result:rag.1}"


async def test_results_are_bounded_in_number_in_data_and_where_they_are_quoted() -> None:
    state = joined({}, None)
    for number in range(1, MOST_TASKS + 6):
        state = joined(state, {"github": {str(number): output_of(str(number), [], "")}})
    assert list(state["github"]) == [str(number) for number in range(6, MOST_TASKS + 6)]
    assert output_of("x", ["y" * LARGEST_DATA], "")["data"] == []
    long = {"github": {"1": output_of("x" * 60_000, [], "")}}
    assert len(await quoted("{result:github.1}", long, whole)) == LONGEST_QUOTE


def test_results_of_parallel_delegations_are_all_kept() -> None:
    both = joined(joined(None, {"github": {"1": OUTPUTS["github"]["1"]}}), {"rag": OUTPUTS["rag"]})
    assert {agent: list(outputs) for agent, outputs in both.items()} == {"github": ["1"], "rag": ["1"]}


def test_requests_to_an_agent_are_numbered_over_the_conversation() -> None:
    messages = [
        HumanMessage("a"),
        AIMessage("", id="1", tool_calls=[call("github", "c1"), call("rag", "c2"), call("github", "c3")]),
        HumanMessage("b"),
        AIMessage("", id="2", tool_calls=[call("github", "c1")]),
    ]
    numbers = [
        number_of(messages, "github", step, id_) for step, id_ in (("1", "c1"), ("1", "c3"), ("2", "c1"))
    ]
    assert numbers == ["1", "2", "3"]
    assert number_of(messages, "rag", "1", "c2") == "1"
