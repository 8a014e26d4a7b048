"""Parts of a request that speak of each other, stand in a numbered list, or are answered by one call."""

import pytest
from langchain_core.messages import HumanMessage, ToolMessage

from tests.eval import routing
from tests.eval.routing_tools import tools_of
from utils.messages.results import Items, dump_result


@pytest.fixture(scope="module")
def chat():
    return routing.model()


def _calls(chat, agent, said):
    answer = chat.bind_tools(tools_of(agent)).invoke([HumanMessage(said)])
    return [(call["name"], call["args"]) for call in answer.tool_calls]


def _answer(github, said, kind, rows):
    asked = [HumanMessage(said)]
    reply = github.invoke(asked)
    (call,) = reply.tool_calls
    listed = ToolMessage(dump_result(Items(kind=kind, items=rows)), tool_call_id=call["id"])
    return github.invoke([*asked, reply, listed]).text


def test_the_one_of_a_list_is_one_of_what_the_part_before_lists(chat):
    said = "Are there open pull requests in acme/rocket? If yes, show the newest one's files."
    names = [name for name, _ in _calls(chat, "github", said)]
    assert names == ["list_pull_requests", "list_pull_requests"]


@pytest.mark.parametrize(
    ("said", "direction"),
    [
        ("open issues in acme/rocket, and who opened the oldest one", "asc"),
        ("list the open issues of acme/rocket and tell me who wrote the newest", "desc"),
    ],
)
def test_a_list_and_what_one_of_its_rows_says_are_two_parts(chat, said, direction):
    calls = _calls(chat, "github", said)
    assert [(name, args.get("limit"), args.get("direction")) for name, args in calls] == [
        ("list_issues", None, None),
        ("list_issues", 1, direction),
    ]


def test_the_row_that_a_second_part_picks_is_of_the_list_before_it(chat):
    said = "pull requests of acme/rocket and which files does the newest one touch"
    assert [name for name, _ in _calls(chat, "github", said)] == ["list_pull_requests"] * 2


def test_two_places_in_two_repositories_are_two_requests(chat):
    said = "newest issue in acme/rocket and oldest one in octo-org/octo-repo"
    calls = chat.bind_tools(tools_of("github")).invoke([HumanMessage(said)]).tool_calls
    assert [(call["args"]["repo"], call["args"]["direction"]) for call in calls] == [
        ("rocket", "desc"),
        ("octo-repo", "asc"),
    ]


def test_a_question_to_the_documents_behind_a_list_is_a_part_of_its_own(chat):
    said = "open issues of acme/rocket, and how does the offline model differ from a real one?"
    calls = chat.bind_tools(tools_of("supervisor")).invoke([HumanMessage(said)]).tool_calls
    assert [call["name"] for call in calls] == ["github", "rag"]


def test_issues_that_are_searched_for_are_listed_and_no_code_is_searched(chat):
    said = "search in hello-world (octocat) for issues which mention 'login'"
    (call,) = chat.bind_tools(tools_of("github")).invoke([HumanMessage(said)]).tool_calls
    assert (call["name"], call["args"]["owner"], call["args"]["repo"]) == (
        "list_issues",
        "octocat",
        "hello-world",
    )


def test_neither_a_label_nor_an_assignee_is_no_label_of_that_name(chat):
    said = "issues of acme/rocket that carry neither a label nor an assignee"
    (call,) = chat.bind_tools(tools_of("github")).invoke([HumanMessage(said)]).tool_calls
    assert call["args"] == {"owner": "acme", "repo": "rocket", "assignee": "none"}


def test_that_repository_is_the_one_before_the_question_to_the_documents(chat):
    said = "the last 3 commits in acme/rocket, then explain the error codes, and finally tell me who opened the newest issue in that repo"
    assert [name for name, _ in _calls(chat, "supervisor", said)] == ["github", "rag", "github"]


def test_which_of_them_is_asked_of_the_rows_that_were_listed(chat):
    said = (
        "How many PRs are waiting in acme/rocket right now, and which of them has been sitting there longest?"
    )
    assert [arguments.get("state") for _, arguments in _calls(chat, "github", said)] == [None, "open"]


def test_who_was_told_to_look_at_a_repository_asks_for_what_comes_after(chat):
    said = (
        "Hi, I'm new on the team and was told to look at acme/rocket. Could you show me what its README says?"
    )
    assert [name for name, _ in _calls(chat, "github", said)] == ["get_file"]


def test_an_order_is_a_part_of_its_own_and_no_background(chat):
    said = "Weigh the anvil and list the open issues of acme/rocket"
    bound = chat.bind_tools(tools_of("supervisor"))
    asked = [HumanMessage(said)]
    reply = bound.invoke(asked)
    assert [call["args"] for call in reply.tool_calls] == [{"request": "list the open issues of acme/rocket"}]
    result = ToolMessage("There are none.", tool_call_id=reply.tool_calls[0]["id"])
    assert "Not done: “Weigh the anvil”" in bound.invoke([*asked, reply, result]).text


def test_an_order_after_a_list_keeps_its_own_verb(chat):
    bound = chat.bind_tools(tools_of("github"))
    reply = bound.invoke([HumanMessage("List the issues of acme/rocket and weigh the anvil")])
    result = ToolMessage("There are none.", tool_call_id=reply.tool_calls[0]["id"])
    text = bound.invoke(
        [HumanMessage("List the issues of acme/rocket and weigh the anvil"), reply, result]
    ).text
    assert "Not done: “weigh the anvil”" in text


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("what branches are there in acme/rocket & how do I add an agent?", ["github", "rag"]),
        (
            "- issues in acme/rocket\n- how does the offline model work\n- branches of acme/rocket",
            ["github", "rag", "github"],
        ),
        ("first: what is an agent card? second: list the issues of acme/rocket", ["rag", "github"]),
        ("check the latest release of acme/rocket, see what our docs say about upgrading", ["github", "rag"]),
        ("Open issues in acme/rocket, newest first. The make target for the full check.", ["github", "rag"]),
        ("open issues in acme/rocket\n\nalso: how do I set a token for one agent", ["github", "rag"]),
    ],
)
def test_each_part_goes_to_its_agent_however_it_is_joined(chat, said, asked):
    assert [name for name, _ in _calls(chat, "supervisor", said)] == asked


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("acme/rocket readme + last commit", ["get_file", "list_commits"]),
        (
            "How is acme/rocket: open tickets, last version, failed builds?",
            ["list_issues", "list_releases", "list_workflow_runs"],
        ),
        (
            "list the releases of acme/rocket and the branches of acme/pad, but only the first five",
            ["list_releases", "list_branches"],
        ),
        ("last 5 commits on acme/rocket plus the README of acme/pad pls", ["list_commits", "get_file"]),
        ("pull up issue #2 of acme/rocket, and add the label 'triage' to it", ["get_issue", "refuse_change"]),
        ('if issue 5 in acme/rocket is still open comment "any news?" on it', ["refuse_change"]),
        ("say hi on issue 1 in acme/rocket in my name", ["refuse_change"]),
        ("check whether acme/rocket has a CONTRIBUTING file", ["get_file"]),
        (
            "open issues in acme/rocket without any label and not by a bot, plus PRs with comments",
            ["list_issues", "list_pull_requests"],
        ),
    ],
)
def test_each_part_about_a_repository_has_its_call(chat, said, asked):
    assert [name for name, _ in _calls(chat, "github", said)] == asked


def test_a_number_without_a_repository_is_asked_back(chat):
    assert [name for name, _ in _calls(chat, "supervisor", "has issue 17 been closed yet")] == ["github"]
    assert (
        "Which repository"
        in chat.bind_tools(tools_of("github")).invoke([HumanMessage("has issue 17 been closed yet")]).text
    )


def test_the_most_recently_opened_issue_may_be_closed(chat):
    [(_, arguments)] = _calls(chat, "github", "what does the most recently opened issue of acme/rocket say?")
    assert arguments["state"] == "all"


def test_what_is_sent_to_the_documents_is_looked_up_there(chat):
    said = "need a dump of all state before tonight's maintenance window, nightly cron ideally"
    assert [name for name, _ in _calls(chat, "rag", said)] == ["search"]


def test_whether_the_latest_run_went_green_is_asked_of_all_runs(chat):
    said = "did ci go green on the latest run in acme/rocket"
    [(name, arguments)] = _calls(chat, "github", said)
    assert (name, arguments.get("status")) == ("list_workflow_runs", None)


def test_an_item_of_a_numbered_list_is_a_request_also_where_it_begins_without_a_verb(chat):
    said = "1) default port of the web page 2) latest commit in acme/rocket"
    calls = _calls(chat, "supervisor", said)
    assert calls == [
        ("rag", {"request": "default port of the web page"}),
        ("github", {"request": "latest commit in acme/rocket"}),
    ]


def test_items_that_are_told_by_words_within_a_sentence_are_parts_of_their_own(chat):
    said = "Two things. First the open pull requests in acme/rocket, second how I take a backup before I touch anything."
    assert _calls(chat, "supervisor", said) == [
        ("github", {"request": "the open pull requests in acme/rocket"}),
        ("rag", {"request": "how I take a backup before I touch anything."}),
    ]


@pytest.mark.parametrize(
    "said",
    ["Show the first, second and third issue of acme/rocket", "First, second and third issue of acme/rocket"],
)
def test_rows_of_a_list_by_their_place_are_no_items(chat, said):
    assert _calls(chat, "supervisor", said) == [("github", {"request": said})]


def test_what_one_call_shows_is_asked_for_once(chat):
    said = "How many forks, watchers and contributors does acme/rocket have?"
    assert _calls(chat, "github", said) == [("get_repository", {"owner": "acme", "repo": "rocket"})]


def test_a_number_after_a_hash_is_an_issue_and_no_run(chat):
    calls = _calls(chat, "github", "acme/rocket #12 - who opened it and is it still open?")
    assert calls == [("get_issue", {"owner": "acme", "repo": "rocket", "number": 12})]


def test_words_with_a_slash_before_a_repository_are_no_repository(chat):
    calls = _calls(chat, "github", "What is the tagline/description of acme/rocket?")
    assert calls == [("get_repository", {"owner": "acme", "repo": "rocket"})]


def test_what_is_in_a_folder_is_listed(chat):
    calls = _calls(chat, "github", "what's in src of acme/rocket?")
    assert calls == [("list_directory", {"owner": "acme", "repo": "rocket", "path": "src"})]


def test_something_said_in_a_comment_is_a_change(chat):
    said = "say hello in the comments of issue 4 of acme/rocket"
    assert [name for name, _ in _calls(chat, "github", said)] == ["refuse_change"]


@pytest.mark.parametrize("age", ["older than two weeks", "older than 3 days", "newer than a month"])
def test_an_age_that_no_argument_takes_is_named(chat, age):
    github = chat.bind_tools(tools_of("github"))
    shown = _answer(github, f"tags of acme/rocket that are {age}", "tags", [{"name": "v1"}])
    assert age in shown.split("\n")[0]


@pytest.mark.parametrize(
    "age, end",
    [("older than two weeks", "until"), ("older than 3 days", "until"), ("newer than a month", "since")],
)
def test_an_age_is_a_time_up_to_which_or_since_which_something_was_opened(chat, age, end):
    [(_, arguments)] = _calls(chat, "github", f"issues of acme/rocket that are {age}")
    assert {"since", "until", "dated"} & arguments.keys() == {end, "dated"}
    assert arguments["dated"] == "opened"


def test_a_weekday_that_is_applied_is_not_named_as_left_out(chat):
    github = chat.bind_tools(tools_of("github"))
    shown = _answer(
        github, "PRs merged since Monday in acme/rocket", "pull requests", [{"number": 1, "title": "One"}]
    )
    assert shown.startswith("**1 pull request**")


def test_a_name_that_is_not_in_the_list_is_named(chat):
    github = chat.bind_tools(tools_of("github"))
    said = "Is there a branch called release in acme/rocket?"
    assert "“release”" in _answer(github, said, "branches", [{"name": "master"}, {"name": "release-1"}])
    assert "“" not in _answer(github, said, "branches", [{"name": "master"}, {"name": "release"}])


def test_an_item_ends_before_the_word_that_joins_the_next_one(chat):
    said = "1) how to run this in Docker, and 2) the latest issue of acme/rocket"
    assert _calls(chat, "supervisor", said) == [
        ("rag", {"request": "how to run this in Docker"}),
        ("github", {"request": "the latest issue of acme/rocket"}),
    ]


def test_a_question_about_something_else_does_not_belong_to_the_one_before_it(chat):
    beside = "how do I add an agent, and how do I bake bread?"
    assert _calls(chat, "supervisor", beside) == [("rag", {"request": "how do I add an agent"})]


@pytest.mark.parametrize(
    "said",
    [
        "How many branches has acme/rocket, and what is the default one?",
        "Did the last workflow run in acme/rocket fail? if yes, in which step",
        "who made the last commit in acme/rocket and what he change",
        "whats the latest relase of acme/rocket and what is in the notes",
        "my pr is 7 in acme/rocket. did somebody comment and is there a conflict?",
    ],
)
def test_a_part_that_leans_on_one_about_a_repository_goes_to_the_same_agent(chat, said):
    calls = chat.bind_tools(tools_of("supervisor")).invoke([HumanMessage(said)]).tool_calls
    assert [(call["name"], call["args"]["request"]) for call in calls] == [("github", said)]


@pytest.mark.parametrize(
    ("said", "tool", "arguments"),
    [
        ("last commit on acme/rocket touching docs/ ?", "list_commits", {"path": "docs", "limit": 1}),
        ("Was .github/workflows changed in acme/rocket?", "list_commits", {"path": ".github/workflows"}),
        ("last 3 commits in acme/rocket w/ author and date", "list_commits", {"limit": 3}),
        ("what did hubot commit to acme/rocket last", "list_commits", {"author": "hubot", "limit": 1}),
        ("Which workflows does acme/rocket have and did they pass?", "list_workflow_runs", {}),
        ("Which workflow runs of acme/rocket passed?", "list_workflow_runs", {"status": "success"}),
        (
            'issues of acme/rocket with the words "crash, and burn"',
            "list_issues",
            {"about": '"crash, and burn"'},
        ),
        ("is there an issue in acme/rocket about timeouts?", "list_issues", {"about": "timeouts"}),
        (
            "issues of acme/rocket about the login that were closed",
            "list_issues",
            {"about": "login", "state": "closed"},
        ),
        ("tell me about the open issues of acme/rocket", "list_issues", {"state": "open"}),
        (
            "which issue of acme/rocket was opened first?",
            "list_issues",
            {"direction": "asc", "limit": 1, "state": "all"},
        ),
    ],
)
def test_folders_persons_and_places_are_read_and_what_is_asked_of_rows_chooses_none(
    chat, said, tool, arguments
):
    call = chat.bind_tools(tools_of("github")).invoke([HumanMessage(said)]).tool_calls[0]
    assert call["name"] == tool
    assert call["args"] == {"owner": "acme", "repo": "rocket"} | arguments


def test_what_stands_before_a_list_of_things_holds_for_each_of_them(chat):
    said = "show what hubot did in acme/rocket since 2026-01-01: commits, issues, pull requests"
    calls = chat.bind_tools(tools_of("github")).invoke([HumanMessage(said)]).tool_calls
    assert [call["name"] for call in calls] == ["list_commits", "list_issues", "list_pull_requests"]
    assert {(call["args"]["author"], call["args"]["since"][:10]) for call in calls} == {
        ("hubot", "2026-01-01")
    }


def test_long_lists_of_several_parts_share_a_screen_and_say_how_many_they_have(chat):
    said = "commits and branches and issues of acme/rocket"
    github, asked = chat.bind_tools(tools_of("github")), HumanMessage(said)
    reply = github.invoke([asked])
    results = []
    sizes = {"list_commits": ("commits", 45), "list_branches": ("branches", 4), "list_issues": ("issues", 60)}
    for call in reply.tool_calls:
        kind, count = sizes[call["name"]]
        rows = [{"name": f"{kind} {n}"} for n in range(count)]
        results.append(ToolMessage(dump_result(Items(kind=kind, items=rows)), tool_call_id=call["id"]))
    text = github.invoke([asked, reply, *results]).text
    assert [line for line in text.splitlines() if line.startswith("**")] == [
        "**45 commits, 13 shown** — acme/rocket",
        "**4 branches** — acme/rocket",
        "**60 issues, 13 shown** — acme/rocket, open",
    ]
    assert text.count("Ask for this list alone to see more of it.") == 2


def test_a_list_whose_number_of_rows_is_said_keeps_them_beside_others(chat):
    said = "the last 25 commits of acme/rocket and all its issues"
    github, asked = chat.bind_tools(tools_of("github")), [HumanMessage(said)]
    reply = github.invoke(asked)
    kinds = {"list_commits": "commits", "list_issues": "issues"}
    results = [
        ToolMessage(
            dump_result(Items(kind=kinds[call["name"]], items=[{"name": n} for n in range(25)])),
            tool_call_id=call["id"],
        )
        for call in reply.tool_calls
    ]
    text = github.invoke([*asked, reply, *results]).text
    assert "**25 commits**" in text
    assert "**25 issues, 15 shown**" in text


def test_lists_that_differ_in_a_usual_value_alone_are_asked_for_once(chat):
    said = "What is new in acme/rocket: commits, issues, PRs, whatever is open, short"
    names = [name for name, _ in _calls(chat, "github", said)]
    assert names == ["list_commits", "list_issues", "list_pull_requests"]


@pytest.mark.parametrize(
    "said",
    [
        "what is in the README of acme/rocket on the default branch",
        "whats in src/main.py of acme/rocket on the dev branch",
    ],
)
def test_a_file_of_a_branch_is_read_and_its_commits_are_not_listed(chat, said):
    assert [name for name, _ in _calls(chat, "github", said)] == ["get_file"]


@pytest.mark.parametrize(
    "said",
    [
        "why is the build red again??",
        "tests are red!!! why",
        "our pipeline is failing since this morning, can you look why?",
    ],
)
def test_a_failed_build_of_no_repository_goes_to_the_agent_that_asks_which(chat, said):
    assert [name for name, _ in _calls(chat, "supervisor", said)] == ["github"]
    asked = chat.bind_tools(tools_of("github")).invoke([HumanMessage(said)])
    assert asked.text == "Which repository do you mean? Please name it as owner/repository."


@pytest.mark.parametrize(
    "said",
    [
        "can you restart nginx in web-03? customer says the page is down",
        "please reboot db-02, it hangs",
        "ssh to app-07 and tail the syslog",
        "Please restart the mail server on srv-12 and tell me when it is done",
    ],
)
def test_an_order_to_a_machine_is_declined_and_looked_up_nowhere(chat, said):
    answer = chat.bind_tools(tools_of("supervisor")).invoke([HumanMessage(said)])
    assert not answer.tool_calls
    assert answer.text.startswith("I cannot help with that.")


def test_a_question_about_a_machine_is_looked_up(chat):
    said = "how do I move the service to web-03?"
    assert [name for name, _ in _calls(chat, "supervisor", said)] == ["rag"]


def test_whether_the_newest_of_them_is_assigned_to_somebody_is_no_condition(chat):
    said = "How many issues in acme/rocket are labelled bug, who reported the newest of them, and whether it is assigned to somebody?"
    arguments = _calls(chat, "github", said)[1][1]
    assert (arguments["limit"], arguments["labels"]) == (1, ["bug"])
    assert "assignee" not in arguments
