"""One thing that is asked for by its place in a list is found in the list, and then shown in full."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage

from tests.eval import routing
from tests.eval.routing_tools import tools_of
from utils.messages.results import Items, Record, dump_result


@pytest.fixture(scope="module")
def github():
    return routing.model().bind_tools(tools_of("github"))


def _conversation(model, said, rows):
    """All calls, round by round, and the answer; each list has `rows`."""
    history: list[Any] = [HumanMessage(said)]
    rounds: list[Any] = []
    while (reply := model.invoke(history)).tool_calls:
        rounds.append([(call["name"], call["args"].get("number")) for call in reply.tool_calls])
        history.append(reply)
        history += [ToolMessage(_result(call, rows), tool_call_id=call["id"]) for call in reply.tool_calls]
    return rounds, reply.text


def _result(call, rows):
    if call["name"].startswith("list"):
        return dump_result(Items(kind=call["name"].removeprefix("list_"), items=rows))
    return dump_result(Record(kind="thing", item={"number": call["args"]["number"], "text": "In full."}))


@pytest.mark.parametrize(
    ("said", "listed", "shown"),
    [
        ("Which files does the latest PR of acme/rocket touch?", "list_pull_requests", "get_pull_request"),
        ("What does the newest issue in acme/rocket say, with its comments?", "list_issues", "get_issue"),
    ],
)
def test_the_newest_one_is_shown_in_full(github, said, listed, shown):
    rounds, answer = _conversation(github, said, [{"number": 7, "title": "Newest"}])
    assert rounds == [[(listed, None)], [(shown, 7)]]
    assert "In full." in answer


def test_several_are_listed_and_not_shown_one_by_one(github):
    rounds, _ = _conversation(github, "The latest PRs of acme/rocket", [{"number": 7}, {"number": 6}])
    assert rounds == [[("list_pull_requests", None)]]


def test_a_list_beside_the_one_keeps_its_place(github):
    said = "Show the open issues of acme/rocket with the label bug, then show the newest issue of acme/pad"
    rounds, answer = _conversation(github, said, [{"number": 7, "title": "Listed"}])
    assert rounds == [[("list_issues", None), ("list_issues", None)], [("get_issue", 7)]]
    assert answer.index("Listed") < answer.index("In full.")


def test_where_the_list_is_empty_the_answer_says_so(github):
    rounds, answer = _conversation(github, "Show the newest issue of acme/rocket", [])
    assert rounds == [[("list_issues", None)]]
    assert "no issues" in answer.lower()
