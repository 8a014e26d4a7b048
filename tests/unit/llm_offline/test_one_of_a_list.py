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
        ("Did CI pass on the latest pull reqest of acme/rocket?", "list_pull_requests", "get_pull_request"),
        ("Who is assigned to the oldest open issue of acme/rocket?", "list_issues", "get_issue"),
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


def test_which_of_them_is_asked_of_the_list_before_it_and_what_is_told_before_a_question_is_no_condition(
    github,
):
    said = "We plan next week and want to know how many issues are open in acme/rocket and which of them has waited the longest"
    calls = github.invoke([HumanMessage(said)]).tool_calls
    assert [call["name"] for call in calls] == ["list_issues", "list_issues"]
    assert {**calls[0]["args"], "direction": "asc", "limit": 1} == calls[1]["args"]
    _, answer = _conversation(github, said, [{"number": 7, "title": "Oldest"}])
    assert "Not applied" not in answer


def test_where_the_number_is_asked_for_it_stands_above_the_first_rows_alone(github):
    rows = [{"number": n, "title": f"Title {n}"} for n in range(30)]
    _, answer = _conversation(github, "How many issues are open in acme/rocket?", rows)
    assert "30 issues" in answer
    assert ["Title 2" in answer, "Title 3" in answer] == [True, False]


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("Has anybody been assigned to the issues labelled bug in acme/rocket?", {"labels": ["bug"]}),
        (
            "Which pull requests in acme/rocket are open the longest? top 3",
            {"state": "open", "direction": "asc", "limit": 3},
        ),
        ("issues assigned to @mona in acme/rocket, open ones only", {"assignee": "mona", "state": "open"}),
    ],
)
def test_a_list_has_the_conditions_that_are_said_and_no_others(github, said, arguments):
    calls = github.invoke([HumanMessage(said)]).tool_calls
    assert [call["args"] for call in calls] == [{"owner": "acme", "repo": "rocket", **arguments}]
