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
        (
            "Which files does the last merged PR of acme/rocket touch? Trying to see who broke the build",
            "list_pull_requests",
            "get_pull_request",
        ),
        ("What does the newest issue in acme/rocket say, with its comments?", "list_issues", "get_issue"),
        ("Did CI pass on the latest pull reqest of acme/rocket?", "list_pull_requests", "get_pull_request"),
        ("What does the issue with the most comments in acme/rocket say?", "list_issues", "get_issue"),
        ("what is the most commented issue in acme/rocket?", "list_issues", "get_issue"),
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


def test_rows_are_counted_although_the_words_tell_of_a_last_one(github):
    said = "How many open PRs does acme/rocket have? Not issues. The last person counted both."
    rounds, answer = _conversation(github, said, [{"number": 7}, {"number": 6}])
    assert rounds == [[("list_pull_requests", None)]]
    assert answer.startswith("**2 ")


def test_a_list_beside_the_one_keeps_its_place(github):
    said = "Show the open issues of acme/rocket with the label bug, then show the newest issue of acme/pad"
    rounds, answer = _conversation(github, said, [{"number": 7, "title": "Listed"}])
    assert rounds == [[("list_issues", None), ("list_issues", None)], [("get_issue", 7)]]
    assert answer.index("Listed") < answer.index("In full.")


@pytest.mark.parametrize(
    "said",
    [
        "show me the failed workflow runs of acme/rocket and the step that failed in the most recent one",
        "failed workflow runs of acme/rocket plus the actor of the last one",
    ],
)
def test_a_list_and_something_of_one_of_its_rows_are_two_parts(github, said):
    calls = github.invoke([HumanMessage(said)]).tool_calls
    assert [(call["name"], call["args"].get("limit")) for call in calls] == [
        ("list_workflow_runs", None),
        ("list_workflow_runs", 1),
    ]


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


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("Show the newest pull request of acme/rocket", {"state": "all", "limit": 1}),
        ("Show the latest closed issue of acme/rocket", {"state": "closed", "limit": 1}),
        (
            "Show the newest pull request of acme/rocket before the meeting at 11",
            {"state": "all", "limit": 1},
        ),
        ("Show the first issue of acme/rocket", {"state": "all", "direction": "asc", "limit": 1}),
        (
            "Out of all issues still open in acme/rocket, which one has been waiting longest?",
            {"state": "open", "direction": "asc", "limit": 1},
        ),
    ],
)
def test_one_is_singled_out_of_all_states_unless_one_is_said(github, said, arguments):
    (call,) = github.invoke([HumanMessage(said)]).tool_calls
    assert {"direction": "desc", **call["args"]} == {
        "direction": "desc",
        "owner": "acme",
        "repo": "rocket",
        **arguments,
    }


def test_good_first_issues_are_several(github):
    (call,) = github.invoke([HumanMessage("List the good first issues of acme/rocket")]).tool_calls
    assert "limit" not in call["args"]


RUNS = [{"id": 30433642, "number": 563, "status": "success"}, {"id": 30433641, "number": 562}]


def _runs(github, said):
    history: list[Any] = [HumanMessage(said)]
    made: list[Any] = []
    while (reply := github.invoke(history)).tool_calls:
        made += [(call["name"], call["args"].get("run_id")) for call in reply.tool_calls]
        shown = dump_result(
            Items(kind="workflow runs", items=RUNS)
            if len(made) == 1
            else Record(kind="run", item={"id": made[-1][1]})
        )
        history += [reply, *(ToolMessage(shown, tool_call_id=call["id"]) for call in reply.tool_calls)]
    return made, reply.text


@pytest.mark.parametrize(
    ("said", "run_id"),
    [
        ("Show the latest workflow run of acme/rocket", 30433642),
    ],
)
def test_a_run_is_read_by_its_id(github, said, run_id):
    made, _ = _runs(github, said)
    assert made == [("list_workflow_runs", None), ("get_workflow_run", run_id)]


def test_a_list_without_a_state_says_that_it_holds_the_open_ones(github):
    _, answer = _conversation(github, "List the issues of acme/rocket", [{"number": 7}])
    assert "acme/rocket, open" in answer


def test_what_is_told_of_a_repository_before_is_no_request_and_a_fact_that_is_not_given_is_named(github):
    said = "I'm about to take over acme/rocket from a colleague. Tell me what it's for and what language it's written in."
    asked = HumanMessage(said)
    called = github.invoke([asked])
    assert [call["name"] for call in called.tool_calls] == ["get_repository"]
    record = dump_result(
        Record(kind="repository", item={"description": "Flies", "language": None, "homepage": None})
    )
    answer = github.invoke([asked, called, ToolMessage(record, tool_call_id=called.tool_calls[0]["id"])]).text
    assert "- Description: Flies" in answer
    assert "- Language: not given" in answer
    assert "Homepage" not in answer


def test_right_now_is_no_condition(github):
    _, answer = _conversation(
        github, "Which pull requests are open in acme/rocket right now?", [{"number": 7}]
    )
    assert "Not applied" not in answer


@pytest.mark.parametrize(
    ("said", "listed"),
    [
        (
            "who pushed last to the default branch of acme/rocket, and what did the commit message say?",
            "list_commits",
        ),
        (
            "I need the release notes of whatever version of acme/rocket came out last, plus the date.",
            "list_releases",
        ),
    ],
)
def test_what_came_last_is_one_row_whatever_the_verb(github, said, listed):
    calls = github.invoke([HumanMessage(said)]).tool_calls
    assert [(call["name"], call["args"].get("limit")) for call in calls] == [(listed, 1)]


def test_bugs_are_the_issues_with_that_label_and_what_their_number_is_for_is_no_condition(github):
    said = HumanMessage("How many open bugs does acme/rocket have? I only need the number for a slide.")
    called = github.invoke([said])
    (call,) = called.tool_calls
    assert call["args"] == {"owner": "acme", "repo": "rocket", "state": "open", "labels": ["bug"]}
    found = dump_result(Items(kind="issues", items=[{"number": 7}], total=1))
    answer = github.invoke([said, called, ToolMessage(found, tool_call_id=call["id"])]).text
    assert "slide" not in answer
    assert "labels bug" in answer
