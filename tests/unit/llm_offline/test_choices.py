"""Which rows are asked for when a request names more than one state, and what is told of them."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from tests.eval import routing
from tests.eval.routing_tools import tools_of
from utils.messages.results import Items, dump_result


@pytest.fixture(scope="module")
def github():
    return routing.model().bind_tools(tools_of("github"))


def _asked(github, said, row=None, total=None):
    """The calls for a request, and the answer when each has returned a row."""
    called = github.invoke([HumanMessage(said)])
    results = [
        ToolMessage(
            dump_result(
                Items(
                    kind=call["name"].removeprefix("list_").replace("_", " "),
                    items=[row or {"number": 1, "title": "Disk full"}],
                    total=total,
                )
            ),
            tool_call_id=call["id"],
        )
        for call in called.tool_calls
    ]
    answer = github.invoke([HumanMessage(said), called, *results])
    return [(call["name"], call["args"]) for call in called.tool_calls], answer.text


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("How many merged PRs has acme/rocket, not counting the ones just closed?", "merged"),
        ("How many PRs of acme/rocket were merged, closed ones excluded?", "merged"),
        ("merged rather than closed PRs of acme/rocket", "merged"),
        ("count the merged, not the open, PRs of acme/rocket", "merged"),
        ("closed PRs of acme/rocket that were not merged", "closed"),
        ("number of closed issues in acme/rocket, excluding open ones", "closed"),
        ("PRs of acme/rocket, but don't include closed ones", None),
        ("are there no closed issues in acme/rocket?", "closed"),
    ],
)
def test_the_state_that_is_meant_is_asked_for_and_not_one_that_is_denied(github, said, state):
    [(_, arguments)], answer = _asked(github, said)
    assert arguments.get("state") == state
    assert ("Not applied" in answer) == ("not merged" in said)


def test_a_denied_state_that_no_argument_keeps_out_is_named(github):
    _, answer = _asked(github, "which workflow runs of acme/rocket haven't failed?")
    assert "Not applied" in answer
    assert "“haven't failed”" in answer


def test_a_number_that_is_asked_for_stands_first_and_how_many_are_shown_after_it(github):
    _, answer = _asked(github, "How many merged PRs has acme/rocket?", total=6)
    assert answer.startswith("**6 pull requests, 1 shown** — acme/rocket, merged")


RELEASE = {"tag": "v1", "published": "2026-01-01", "notes": "Faster."}


@pytest.mark.parametrize(
    "said",
    [
        "Latest release of acme/rocket: tag, date, and what changed?",
        "newest release of acme/rocket and what's new",
        "Show the latest release of acme/rocket. What changed?",
        "Show the latest release of acme/rocket, what was fixed?",
    ],
)
def test_what_changed_in_a_release_is_part_of_the_request_for_it(github, said):
    calls, answer = _asked(github, said, RELEASE)
    assert [name for name, _ in calls] == ["list_releases"]
    assert "Not applied" not in answer


@pytest.mark.parametrize(
    "story",
    [
        "I was on holiday for two weeks and would like to catch up on acme/rocket: show me the last five commits on the default branch.",
        "Just back from vacation, what were the last five commits on acme/rocket?",
        "My boss wants to see something for the board meeting; show the last five commits of acme/rocket",
        "We had trouble with the pump, so list the last five commits of acme/rocket",
    ],
)
def test_a_story_before_the_request_is_no_list_of_conditions(github, story):
    [(name, arguments)], answer = _asked(github, story)
    assert (name, arguments["limit"]) == ("list_commits", 5)
    assert "Not applied" not in answer


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("For my report, sorted by size: list the commits of acme/rocket", "sorted by size"),
        ("I'm new here. Show me the open PRs of acme/rocket without labels", "without labels"),
        ("newest issues of acme/rocket that are open and have no label", "no label"),
        (
            'open pull requests of acme/rocket with the words "crash, and burn"',
            'with the words "crash, and burn"',
        ),
    ],
)
def test_a_condition_is_named_whole_also_beside_a_story_and_in_quotation_marks(github, said, named):
    _, answer = _asked(github, said)
    assert f"“{named}”" in answer


@pytest.mark.parametrize(
    "said",
    [
        "Zeig mir mal die letzten drei geschlossenen Issues in acme/rocket",
        "los tres últimos issues de acme/rocket",
    ],
)
def test_a_number_in_another_language_is_applied_and_not_named_as_left_out(github, said):
    calls, answer = _asked(github, said)
    assert calls[0][1]["limit"] == 3
    assert "Not applied" not in answer


def test_a_time_that_is_applied_is_not_named_as_left_out(github):
    calls, answer = _asked(github, "PRs of acme/rocket that wait since more than one week")
    assert calls[0][1]["until"]
    assert "Not applied" not in answer


def test_a_state_in_another_language_is_applied(github):
    calls, _ = _asked(github, "Quelles sont les trois dernières pull requests fusionnées de acme/rocket ?")
    assert (calls[0][1]["state"], calls[0][1]["limit"]) == ("merged", 3)


SHOWN = "which issues in acme/rocket are open?"
ORDERS = (
    "Close all of them, they're stale anyway.",
    "merge it",
    "assign it to me",
    "pls close the oldest one",
    "close both",
    "label them stale",
    "reopen 5",
    "Can you close these for me?",
    "Add the label wontfix to the first two.",
)


def _after(agent, tool, arguments, said):
    call: Any = {"id": "1", "name": tool, "args": arguments}
    rows = dump_result(Items(kind="issues", items=[{"number": n, "title": "T"} for n in (9, 8)]))
    history = [
        HumanMessage(SHOWN),
        AIMessage("", tool_calls=[call]),
        ToolMessage(rows, tool_call_id="1"),
        AIMessage("**2 issues**"),
        HumanMessage(said),
    ]
    answer = routing.model().bind_tools(tools_of(agent)).invoke(history)
    return [call["name"] for call in answer.tool_calls]


@pytest.mark.parametrize("said", ORDERS)
def test_an_order_about_what_the_conversation_showed_is_refused_as_a_change(said):
    assert _after("supervisor", "github", {"request": SHOWN}, said) == ["github"]
    assert _after("github", "list_issues", {"owner": "acme", "repo": "rocket"}, said) == ["refuse_change"]


@pytest.mark.parametrize("said", ["delete my conversation", "remove the handbook from the index"])
def test_an_order_about_the_service_itself_does_not_go_to_github(said):
    assert _after("supervisor", "github", {"request": SHOWN}, said) == ["rag"]


@pytest.mark.parametrize(
    ("said", "parameter"),
    [
        ("did the latest workflow run in acme/rocket go green?", "status"),
        ("Is the newest pull request of acme/rocket merged?", "state"),
        ("acme/rocket's last workflow run, green or red?", "status"),
        ("tell me whether the latest run of acme/rocket is green or red", "status"),
        ("did the most recent build of acme/rocket pass or fail?", "status"),
        ("newest pull request of acme/rocket - still open?", "state"),
        ("latest PR of acme/rocket, merged or still open?", "state"),
        ("Who opened the newest pull request of acme/rocket and is it still open?", "state"),
        ("\u00bfQui\u00e9n abri\u00f3 el \u00faltimo pull request de acme/rocket y sigue abierto?", "state"),
    ],
)
def test_a_state_that_is_asked_about_says_not_which_one_is_wanted(github, said, parameter):
    calls, _ = _asked(github, said)
    ((_, arguments),) = calls
    assert arguments["limit"] == 1
    assert arguments.get(parameter) in (None, "all")


def test_what_is_asked_if_the_one_is_in_a_state_is_asked_of_that_one(github):
    calls, _ = _asked(github, "acme/rocket's last workflow run, green or red? if red, which job broke")
    assert [(name, args.get("limit")) for name, args in calls] == [("list_workflow_runs", 1)]


@pytest.mark.parametrize(
    ("said", "labels"),
    [
        ("which open issues of acme/rocket carry the bug one?", ["bug"]),
        ("issues carrying the good-first-issue label in acme/rocket", ["good-first-issue"]),
        ('open issues in acme/rocket that carry the "help wanted" label', ["help wanted"]),
        ("which issues of acme/rocket carry no label?", None),
        ("acme/rocket, open issues, bug label only", ["bug"]),
        ("issues of acme/rocket, only the bug label please", ["bug"]),
        ("issues of acme/rocket with a label only", None),
    ],
)
def test_a_label_is_what_an_issue_carries(github, said, labels):
    ((_, arguments),) = _asked(github, said)[0]
    assert arguments.get("labels") == labels


def test_whether_the_tests_pass_is_asked_of_all_runs(github):
    ((_, arguments),) = _asked(github, "Did the automatic tests pass the last time in acme/rocket?")[0]
    assert "status" not in arguments


def test_a_state_before_the_one_says_which_one_is_wanted(github):
    ((_, arguments),) = _asked(github, "Is the latest failed run of acme/rocket older than a day?")[0]
    assert (arguments["limit"], arguments["status"]) == (1, "failure")


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("last 5 commits in acme/rocket not by octocat", {"author": None, "limit": 5}),
        (
            "sort the open PRs of acme/rocket by number of comments and show the top three",
            {"author": None, "limit": 3},
        ),
        ("the three most recently closed issues in acme/rocket", {"state": "closed", "limit": 3}),
        ("page 2 of the open issues in acme/rocket", {"state": "open", "page": 2}),
        ("How many issues are closed in acme/rocket compared to open ones?", {"state": "all"}),
        ("please show me the issues from acme/rocket, also the closed", {"state": "all"}),
        ("list the issues of acme/rocket, the closed ones too", {"state": "all"}),
        ("which commits came to the default branch of acme/rocket after that date?", {"branch": None}),
        ("which of the open PRs in acme/rocket has the most comments?", {"sort": "popularity", "limit": 1}),
        (
            "Which of the open PRs in acme/rocket has been waiting the longest?",
            {"direction": "asc", "limit": 1},
        ),
    ],
)
def test_each_condition_is_an_argument_of_its_own(github, said, wanted):
    ((_, arguments), *_more) = _asked(github, said)[0]
    assert {name: arguments.get(name) for name in wanted} == wanted


def test_the_release_whose_notes_are_asked_for_is_the_newest(github):
    said = "does acme/rocket have a tagged release yet and, if there is one, what do its notes say?"
    assert _asked(github, said)[0] == [("list_releases", {"owner": "acme", "repo": "rocket", "limit": 1})]


def test_what_waits_for_review_in_no_repository_is_asked_of_the_agent_that_asks_which():
    supervisor = routing.model().bind_tools(tools_of("supervisor"))
    assert _asked(supervisor, "what's waiting for review?")[0] == [
        ("github", {"request": "what's waiting for review?"})
    ]


@pytest.mark.parametrize("left_out", ["overnight", "and June", "next week", "since that release"])
def test_a_time_that_the_call_does_not_have_is_named(github, left_out):
    _, answer = _asked(github, f"issues of acme/rocket that were opened in May {left_out}")
    assert f"“{left_out}”" in answer
