"""What is asked of one thing after it was named is read of that thing; what is asked of rows is read of rows."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from tests.eval import routing
from tests.eval.routing_tools import tools_of
from utils.llm.offline.words import is_foreign
from utils.messages.results import Article, Articles, Items, Record, dump_result


@pytest.fixture(scope="module")
def models():
    model = routing.model()
    return {agent: model.bind_tools(tools_of(agent)) for agent in ("supervisor", "github", "rag")}


def _calls(model, *history: Any):
    told = [HumanMessage(each) if isinstance(each, str) else each for each in history]
    return [
        (call["name"], {k: v for k, v in call["args"].items() if k not in ("owner", "repo")})
        for call in model.invoke(told).tool_calls
    ]


def _answer(model, said, *results):
    """The answer to a request whose calls return `results`, in their order, over all rounds."""
    left, history = list(results), list[Any]([HumanMessage(said)])
    while (reply := model.invoke(history)).tool_calls:
        history.append(reply)
        history += [
            ToolMessage(dump_result(left.pop(0)), tool_call_id=call["id"]) for call in reply.tool_calls
        ]
    return reply.text


@pytest.mark.parametrize(
    "said",
    [
        "Which files does the newest PR of acme/rocket touch, and who wrote it?",
        "Who wrote the newest PR of acme/rocket, and which branch does it want to go into?",
        "Who reviewed the newest PR of acme/rocket and when was it opened?",
        "Look up the newest PR of acme/rocket. Who approved it?",
    ],
)
def test_a_second_question_about_the_one_makes_no_second_call(models, said):
    assert _calls(models["github"], said) == [
        ("list_pull_requests", {"direction": "desc", "limit": 1, "state": "all"})
    ]


def test_the_diff_of_the_newest_one_is_asked_for_with_it(models):
    said = "Show me the diff of the newest PR in acme/rocket"
    first = models["github"].invoke([HumanMessage(said)])
    rows = dump_result(Items(kind="pull requests", items=[{"number": 7, "title": "Newest"}]))
    result = ToolMessage(rows, tool_call_id=first.tool_calls[0]["id"])
    assert _calls(models["github"], said, first, result) == [
        ("get_pull_request", {"number": 7, "include_diff": True})
    ]


def test_the_diff_of_a_row_that_was_shown_is_asked_for_with_it(models):
    rows = dump_result(Items(kind="pull requests", items=[{"number": n, "title": "Change"} for n in (7, 5)]))
    call = {"name": "list_pull_requests", "args": {"owner": "acme", "repo": "rocket"}, "id": "1"}
    earlier = [
        "List the open pull requests of acme/rocket",
        AIMessage("", tool_calls=[call]),
        ToolMessage(rows, tool_call_id="1"),
        AIMessage("Two."),
    ]
    asked = _calls(models["github"], *earlier, "show me the diff of the second one")
    assert asked == [("get_pull_request", {"number": 5, "include_diff": True})]
    assert _calls(models["github"], *earlier, "show me the second one") == [
        ("get_pull_request", {"number": 5})
    ]


def test_a_follow_up_stays_with_the_one_thing_that_was_shown(models):
    shown = AIMessage(
        "",
        tool_calls=[
            {"id": "1", "name": "get_pull_request", "args": {"owner": "a", "repo": "b", "number": 7}}
        ],
    )
    record = ToolMessage(
        dump_result(Record(kind="pull request", item={"number": 7, "title": "X"})), tool_call_id="1"
    )
    history = ["Show PR 7 of a/b", shown, record, AIMessage("PR 7 …"), "which files does it touch?"]
    assert _calls(models["github"], *history) == [("get_pull_request", {"number": 7})]


def test_what_a_list_of_commits_does_not_show_is_named(models):
    rows = Items(kind="commits", items=[{"sha": "abc1234", "message": "Fix"}])
    said = "The last 3 commits of acme/rocket, and which files do they touch?"
    assert "“which files do they touch”" in _answer(models["github"], said, rows)


def test_the_last_commit_is_shown_with_its_files(models):
    rows = Items(kind="commits", items=[{"sha": "abc1234", "message": "Fix"}])
    commit = Record(kind="commit", item={"sha": "abc1234", "files": ["src/main.py (modified, +1 -1)"]})
    said = "What's in the last commit of acme/rocket, which files does it touch?"
    answer = _answer(models["github"], said, rows, commit)
    assert "src/main.py" in answer
    assert "Not applied" not in answer


@pytest.mark.parametrize(
    ("said", "pair"),
    [
        ("compare v1.0.1 and v1.0.3 of acme/rocket", ("v1.0.1", "v1.0.3")),
        ("what changed between release-1.9 and main in acme/rocket?", ("release-1.9", "main")),
        ("how far is the branch topic-x behind main in acme/rocket", ("main", "topic-x")),
        ("is develop ahead of v2.1 in acme/rocket?", ("v2.1", "develop")),
        ("what is new in v1.3 compared to v1.2, acme/rocket", ("v1.2", "v1.3")),
    ],
)
def test_two_versions_are_compared_the_older_one_first(models, said, pair):
    assert _calls(models["github"], said) == [("get_comparison", {"base": pair[0], "head": pair[1]})]


def test_how_the_last_run_went_is_asked_and_chooses_no_runs(models):
    for said in (
        "did the last CI run of acme/rocket pass or fail",
        "acme/rocket - did CI pass on the latest run?",
    ):
        assert _calls(models["github"], said) == [("list_workflow_runs", {"limit": 1})]


def test_the_one_that_was_opened_last_may_be_closed_by_now(models):
    said = "The pull request that was opened last in acme/rocket"
    assert _calls(models["github"], said)[0][1]["state"] == "all"


def test_a_forced_push_is_a_change_and_tags_are_listed(models):
    said = "force-push main of acme/rocket back to the commit before the release"
    assert [name for name, _ in _calls(models["github"], said)] == ["refuse_change"]
    assert [name for name, _ in _calls(models["github"], "show me the tags of acme/rocket")] == ["list_tags"]


def test_a_language_that_is_told_by_its_letters_is_said_not_to_be_read(models):
    said = "Pokaż otwarte zgłoszenia w acme/rocket"
    answer = _answer(models["github"], said, Record(kind="repository", item={"name": "acme/rocket"}))
    assert "English" in answer


def test_a_wish_to_leave_it_as_it_is_changes_and_looks_up_nothing(models):
    for said in ("hm, no, leave it as it is", "no, leave that open"):
        assert (
            _calls(models["supervisor"], "Close issue 1 of acme/rocket", AIMessage("Not done."), said) == []
        )
    assert _calls(models["supervisor"], "leave a comment on issue 1 of acme/rocket: done")


def test_a_yes_that_nothing_waits_for_is_told_that_nothing_was_changed(models):
    for said in ("yes go ahead", "ok, do it", "yes please do", "I confirm"):
        before = [HumanMessage("Close issue 1 of acme/rocket"), AIMessage("I can only read GitHub.")]
        answer = models["supervisor"].invoke([*before, HumanMessage(said)])
        assert (answer.tool_calls, "nothing was changed" in answer.text) == ([], True), said


def test_comments_that_are_asked_for_are_no_order(models):
    said = "Show me the comments on the newest open issue in acme/rocket"
    assert _calls(models["github"], said) == [
        ("list_issues", {"state": "open", "direction": "desc", "limit": 1})
    ]
    assert (
        _calls(models["github"], "Issues of acme/rocket with the most comments")[0][1]["sort"] == "comments"
    )


def test_both_kinds_of_open_rows_are_counted(models):
    calls = _calls(models["github"], "The number of open issues and open PRs in acme/rocket")
    assert [name for name, _ in calls] == ["list_issues", "list_pull_requests"]


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("Logs of job 456 in a/b", {"job_id": 456}),
        ("What did mona commit to a/b?", {"author": "mona"}),
        ("PRs that target release-1 in a/b", {"base": "release-1"}),
        ("When was the latest tag of a/b published?", {"limit": 1}),
        ("Oldest open issue of acme/platform opened by anyone", {"state": "open", "direction": "asc"}),
    ],
)
def test_an_argument_is_what_the_sentence_says(models, said, arguments):
    [(_, given)] = _calls(models["github"], said)
    assert given | arguments == given
    assert given.get("author") in (None, arguments.get("author"))
    assert given.get("run_id") is None


@pytest.mark.parametrize(
    "said",
    [
        "Has anybody reviewed PR 1 over at a/b yet, and if so was it an approval?",
        "Get the oldest open issue of a/b and tell me who is assigned and what was said in the comments",
        "Give me the newest issue in a/b incl. what people commented",
    ],
)
def test_what_a_record_shows_is_not_called_left_out(models, said):
    rows = Items(kind="issues", items=[{"number": 1, "title": "Found"}])
    record = Record(kind="thing", item={"number": 1, "title": "Found"})
    results = [record] if said.startswith("Has") else [rows, record]
    assert "Not applied" not in _answer(models["github"], said, *results)


def test_what_is_applied_is_not_called_left_out(models):
    rows = Items(kind="issues", items=[{"number": 1, "title": "Free"}])
    assert "Not applied" not in _answer(models["github"], "Issues in a/b assigned to nobody", rows)


@pytest.mark.parametrize(
    ("said", "shown", "hidden"),
    [
        (
            "Show the release notes of v1.0.3 of a/b",
            ["v1.0.3", "2 releases, 1 shown"],
            ["v1.0.2", "Not applied"],
        ),
        ("What's new in v9.9 of a/b?", ["v1.0.3", "v1.0.2", "Not applied", "“v9.9”"], []),
        ("List the releases of a/b", ["v1.0.3", "v1.0.2"], ["Not applied"]),
    ],
)
def test_a_release_that_is_named_is_shown_alone(models, said, shown, hidden):
    rows = Items(
        kind="releases", items=[{"tag": "v1.0.3", "notes": "New"}, {"tag": "v1.0.2", "notes": "Old"}]
    )
    answer = _answer(models["github"], said, rows)
    assert [part for part in shown if part not in answer] == []
    assert [part for part in hidden if part in answer] == []


def test_a_time_that_is_told_before_the_question_chooses_no_rows(models):
    said = "I was on holiday last week - which files did the most recently opened pull request in acme/rocket change?"
    [(name, arguments)] = _calls(models["github"], said)
    assert name == "list_pull_requests"
    assert "since" not in arguments


@pytest.mark.parametrize(
    ("said", "tool", "state"),
    [
        ("¿Qué incidencias abiertas hay en acme/rocket?", "list_issues", "open"),
        ("Quelles sont les pull requests fermées de acme/rocket ?", "list_pull_requests", "closed"),
        ("Zeig mir bitte die geschlossenen issues von acme/rocket", "list_issues", "closed"),
        ("¿Qué ramas tiene acme/rocket?", "list_branches", None),
    ],
)
def test_rows_and_their_states_are_known_in_other_languages(models, said, tool, state):
    [(name, arguments)] = _calls(models["github"], said)
    assert (name, arguments.get("state")) == (tool, state)


def test_a_list_of_documents_leaves_nothing_out(models):
    documents = Items(kind="documents", items=[{"title": "Guide", "url": "docs/guide.md"}])
    assert "Not applied" not in _answer(models["rag"], "Which documents do you have?", documents)


def test_a_repository_alone_is_shown(models):
    assert _calls(models["github"], "Tell me about acme/rocket") == [("get_repository", {})]


@pytest.mark.parametrize(
    ("said", "agents"),
    [
        ("latest issue?", ["github"]),
        ("Should I open an issue?", ["rag"]),
        ("How do I get a list of my earlier chats and reopen one of them?", ["rag"]),
        ("Are the stored chats encrypted on disk? If not, can I turn that on?", ["rag"]),
        ("Get the oldest open issue of acme/rocket and tell me who is assigned", ["github"]),
        ("Show the open issues of acme/rocket, and how do I deploy it?", ["github", "rag"]),
        ("anything waiting for my review", ["github"]),
        (
            "Could you order pizza for the on-call rota and book a room for the postmortem on Thursday at 3?",
            [],
        ),
        (
            "I've just been handed acme/rocket by a team that's gone and I'd like to find out who made the last commit on it, and what the message said.",
            ["github"],
        ),
        ("do i need docker or postgres for this, or is python enough? which version", ["rag"]),
        (
            "Another team has written an agent in Go that lives at its own address. Where do I write that down so the supervisor hands it work?",
            ["rag"],
        ),
        (
            "give me the title of the newest issue in acme/rocket, then who its author is, and after that which ports the agents use",
            ["github", "rag"],
        ),
        (
            "I was on holiday last week - which files did the newest pull request in acme/rocket change, and how many lines were removed?",
            ["github"],
        ),
    ],
)
def test_a_request_reaches_the_agents_that_it_is_for(models, said, agents):
    assert [name for name, _ in _calls(models["supervisor"], said)] == agents


def test_a_call_for_help_is_answered_with_what_there_is(models):
    reply = models["supervisor"].invoke([HumanMessage("Can you help me?")])
    assert reply.tool_calls == []
    assert "Try one of these:" in reply.text


def test_a_version_is_no_number_of_passages(models):
    said = "Is version 0.3 still supported or only 1.0?"
    assert _calls(models["rag"], said) == [("search", {"query": said})]


def test_what_the_documents_say_about_github_is_asked_of_the_documents(models):
    said = "what are your docs' words on what to do once github's rate limit is hit"
    assert [name for name, _ in _calls(models["supervisor"], said)] == ["rag"]
    assert [name for name, _ in _calls(models["supervisor"], "does acme/rocket have docs?")] == ["github"]


def test_what_changed_on_a_branch_is_asked_of_its_commits(models):
    said = "what changed on branch develop of acme/rocket since 2026-01-05?"
    (call,) = _calls(models["github"], said)
    assert call[0] == "list_commits"
    assert call[1]["branch"] == "develop"


def test_a_question_that_names_something_is_no_small_talk(models):
    assert [name for name, _ in _calls(models["supervisor"], "Does it work on Windows?")] == ["rag"]


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("show me that whole document", "fetch_document"),
        ("and can a colleague on another machine open that page too?", "search"),
    ],
)
def test_a_document_is_read_in_full_where_nothing_else_is_asked_of_it(models, said, tool):
    first = "how do I get the page in the browser?"
    found = Articles(articles=[Article(title="Page", url="docs/web.md#open", score=1.0, content="Run it.")])
    search = models["rag"].invoke([HumanMessage(first)])
    result = ToolMessage(dump_result(found), tool_call_id=search.tool_calls[0]["id"])
    [(name, _)] = _calls(models["rag"], first, search, result, AIMessage("Run it."), said)
    assert name == tool


def test_the_first_of_those_is_read_of_the_list_also_in_a_long_question(models):
    said = "the first of those, who was asked to review it and is it still a draft?"
    rows = Items(kind="pull requests", items=[{"number": 71, "title": "Feature"}, {"number": 70}])
    listed = models["github"].invoke([HumanMessage("show me open PRs on acme/rocket")])
    result = ToolMessage(dump_result(rows), tool_call_id=listed.tool_calls[0]["id"])
    asked = ("show me open PRs on acme/rocket", listed, result, AIMessage("2 pull requests"), said)
    assert _calls(models["github"], *asked) == [("get_pull_request", {"number": 71})]


@pytest.mark.parametrize(
    ("said", "tool", "wanted", "unwanted"),
    [
        ("Who has the oldest issue still open in acme/rocket?", "list_issues", {"state": "open", "direction": "asc"}, set()),
        ("Is CI red on acme/rocket?", "list_workflow_runs", {}, {"status"}),
        ("What did Rama change in acme/rocket?", "list_commits", {"author": "Rama"}, set()),
        ("did CI pass on acme/rocket last time it ran?", "list_workflow_runs", {"limit": 1}, {"status"}),
        ("are there any failed runs in acme/rocket?", "list_workflow_runs", {"status": "failure"}, set()),
        ("Everything labelled bug in acme/rocket, assigned or not, with a link to each.", "list_issues", {"state": "all", "labels": ["bug"], "include_links": True}, {"assignee"}),
        ("how many issues are open in acme/rocket? Pull requests shouldn't be counted as issues please.", "list_issues", {"state": "open"}, set()),
    ],
)  # fmt: skip
def test_rows_are_chosen_by_what_the_words_ask_for(models, said, tool, wanted, unwanted):
    [(name, arguments)] = _calls(models["github"], said)
    assert name == tool
    assert wanted.items() <= arguments.items()
    assert not unwanted & arguments.keys()


def test_what_was_applied_is_not_said_to_be_left_out(models):
    said = "Everything labelled bug in acme/rocket, assigned or not, with a link to each."
    rows = Items(kind="issues", items=[{"number": 7, "title": "Bug", "url": "https://x/7"}])
    answer = _answer(models["github"], said, rows)
    assert "Not applied" not in answer
    assert "[#7](https://x/7)" in answer


def test_parts_of_a_numbered_list_are_parts_also_where_one_says_it(models):
    said = "1) how do I run this thing in docker 2) who commited last to acme/rocket 3) where do i report a security hole in it"
    assert [name for name, _ in _calls(models["supervisor"], said)] == ["rag", "github", "rag"]


def test_what_else_is_wanted_of_rows_that_were_shown_is_no_question_to_the_documents(models):
    listed = models["supervisor"].invoke([HumanMessage("list the issues of acme/rocket")])
    result = ToolMessage("**2 issues**", tool_call_id=listed.tool_calls[0]["id"])
    shown = ("list the issues of acme/rocket", listed, result, AIMessage("**2 issues**"))
    for said in (
        "who opened the first one you listed, and has anybody replied to it?",
        "great, merge the top one, squash it, and close the rest",
    ):
        assert [name for name, _ in _calls(models["supervisor"], *shown, said)] == ["github"]


def test_parts_of_a_numbered_list_are_looked_up_apart_unless_one_says_little_alone(models):
    apart = "1) what licence does this project come under 2) what python do i need for it"
    assert [name for name, _ in _calls(models["supervisor"], apart)] == ["rag", "rag"]
    together = "1. how do I back up the data 2. how do I restore it"
    assert [name for name, _ in _calls(models["supervisor"], together)] == ["rag"]


def test_what_the_user_is_going_to_do_is_no_order(models):
    said = "hi, I'm going to change the rag agent a bit and send a pull request"
    assert [name for name, _ in _calls(models["supervisor"], said)] == ["rag"]


def test_a_slip_of_the_pen_in_latest_hides_neither_the_one_nor_its_checks(models):
    said = "Did the checks pass on the lastest pull request of acme/rocket?"
    assert _calls(models["github"], said) == _calls(models["github"], said.replace("lastest", "latest"))
    assert _calls(models["github"], said)[0][1]["limit"] == 1


def test_whether_somebody_has_replied_is_answered_by_the_comments_and_not_said_to_be_left_out(models):
    said = "Who opened the oldest open issue of acme/rocket, and has anyone replied to it?"
    row = {"number": 7, "title": "Oldest", "author": "octocat"}
    answer = _answer(
        models["github"],
        said,
        Items(kind="issues", items=[row]),
        Record(kind="issue", item={**row, "comments": 1, "discussion": ["hubot: Me too"]}),
    )
    assert "Me too" in answer
    assert "Not applied" not in answer


def test_a_list_of_which_nothing_is_said_is_no_list_of_documents(models):
    assert _calls(models["rag"], "what do the error codes mean and where is the list")[0][0] == "search"
    assert all(name == "search" for name, _ in _calls(models["rag"], "where is the list?"))
    assert _calls(models["rag"], "List your sources") == [("list_sources", {})]


def test_a_file_that_a_question_names_is_not_fetched_because_something_is_read_from_elsewhere(models):
    said = "can the github token be kept out of agents.yaml, like read from an environment variable"
    assert [name for name, _ in _calls(models["rag"], said)] == ["search"]
    assert [name for name, _ in _calls(models["rag"], "Read docs/security.md in full")] == ["fetch_document"]


def test_what_is_told_of_one_of_our_people_goes_along_with_the_question_after_it(models):
    said = "One of my people wrote a weather bot in Go that already speaks A2A. Can we plug it in without rewriting it?"
    [(name, arguments)] = _calls(models["supervisor"], said)
    assert (name, arguments["request"]) == ("rag", said)


def test_a_part_that_begins_with_from_the_docs_is_a_part_of_its_own(models):
    said = "Two things: the titles of the open pull requests in a/b, and from the docs how somebody starts the chat in a browser."
    assert [name for name, _ in _calls(models["supervisor"], said)] == ["github", "rag"]


def test_a_number_and_the_titles_are_answered_by_all_rows(models):
    said = "How many issues in acme/rocket carry the label bug? Just the number and their titles."
    rows = [{"number": n, "title": f"Bug {n}", "author": "octocat"} for n in range(1, 9)]
    answer = _answer(models["github"], said, Items(kind="issues", items=rows, total=8))
    assert all(f"Bug {n} " in answer for n in range(1, 9))


def test_who_is_assigned_is_shown_by_the_record_and_not_said_to_be_left_out(models):
    said = "Has anyone been assigned to issue 71 of acme/rocket?"
    answer = _answer(
        models["github"], said, Record(kind="issue", item={"number": 71, "assignees": ["octocat"]})
    )
    assert "octocat" in answer
    assert "Not applied" not in answer


def test_explain_both_is_no_part_of_its_own(models):
    said = "In agents.yaml one entry says `trust: own` and `shares: results`. Explain both please, and which other values there are."
    answer = _answer(models["rag"], said, Articles(articles=[]), Articles(articles=[]))
    assert "Not done" not in answer


def test_a_language_whose_short_words_are_english_ones_too_is_told_by_the_others(models):
    said = "Quines incidències hi ha obertes a acme/rocket?"
    [(name, arguments)] = _calls(models["github"], said)
    assert (name, arguments["state"]) == ("list_issues", "open")
    assert is_foreign(said)
    assert not is_foreign("which issues of acme/rocket are about the café?")
