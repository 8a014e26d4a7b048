from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import parse_qs, unquote_plus

import pytest
from pydantic import ValidationError
from starlette.responses import JSONResponse

from agents.github.testing.data import UNICODE_TITLE, example
from agents.github.tools import build_tools
from tests.unit.github.conftest import caller
from utils.messages.results import Items, parse_result

RANKS = Path("utils/messages/ranks").resolve()
REPO = {"owner": "octocat", "repo": "hello-world"}


@pytest.fixture
def tokens(monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(RANKS))
    import tiktoken

    encoding = tiktoken.get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text))


async def test_fifty_pull_requests_take_less_than_five_thousand_tokens(github, clients, tokens):
    tool = next(tool for tool in build_tools(clients(github.url)) if tool.name == "list_pull_requests")
    text = await tool.ainvoke({**REPO, "limit": 50})
    result = parse_result(text)
    assert isinstance(result, Items)
    assert len(result.items) == 50
    assert tokens(text) < 5_000
    assert tokens(json.dumps(example("pulls")[0])) > 4_000, "the payload served must be full-size"


async def test_all_open_pull_requests_come_in_one_table_with_equal_columns(call):
    result = await call("list_pull_requests", **REPO)
    assert result.total == 60
    assert len(result.items) == 60
    assert {tuple(row) for row in result.items} == {
        ("number", "title", "author", "state", "labels", "base", "head", "created", "updated", "reviewers")
    }
    assert [row["number"] for row in result.items] == [n for n in range(72, 0, -1) if n % 6]
    assert result.items[0] == {
        "number": 71,
        "title": "Amazing new feature 71",
        "author": "monalisa",
        "state": "open",
        "labels": ["bug"],
        "base": "master",
        "head": "new-topic-71",
        "created": "2026-01-04",
        "updated": "2026-01-04",
        "reviewers": ["other_user"],
    }
    assert result.note is None
    assert result.source == "https://github.com/octocat/hello-world/pulls"


async def test_a_page_tells_how_many_there_are_and_where_the_rest_is(call):
    first = await call("list_pull_requests", **REPO, limit=25)
    last = await call("list_pull_requests", **REPO, limit=25, page=3)
    assert first.total == 60
    assert first.note == "25 of 60 pull requests on page 1; page 2 has more."
    assert (len(last.items), last.total, last.note) == (10, 60, None)
    assert first.items[-1]["number"] > last.items[0]["number"]


async def test_a_page_past_the_end_says_so_and_claims_no_total(call):
    result = await call("list_pull_requests", **REPO, page=9)
    assert (result.items, result.total) == ([], None)
    assert result.note == "Page 9 is past the end of the list."


@pytest.mark.parametrize(
    "state, states",
    [
        ("open", {"open", "draft"}),
        ("closed", {"closed", "merged"}),
        ("all", {"open", "draft", "closed", "merged"}),
    ],
)
async def test_the_state_asked_for_is_the_state_listed(call, state, states):
    result = await call("list_pull_requests", **REPO, state=state)
    assert {row["state"] for row in result.items} == states


async def test_a_limit_over_one_page_of_github_is_read_in_several_requests(github, clients):
    call = caller(clients(github.url, GITHUB_MAX_ITEMS="150"))
    result = await call("list_issues", **REPO, state="all", limit=150)
    assert len(result.items) == 72
    assert len(github.recorder.requests) == 2


async def test_a_list_never_exceeds_the_setting(github, clients):
    call = caller(clients(github.url, GITHUB_MAX_ITEMS="20"))
    result = await call("list_pull_requests", **REPO, limit=1000)
    assert (len(result.items), result.total) == (20, 60)
    assert result.note == "20 of 60 pull requests on page 1; page 2 has more."


async def test_issues_come_without_the_pull_requests_that_github_mixes_in(call):
    result = await call("list_issues", **REPO)
    assert (len(result.items), result.total) == (60, 60)
    assert {row["number"] for row in result.items} == {n for n in range(1, 73) if n % 6}


async def test_pages_of_issues_neither_overlap_nor_leave_gaps(call):
    pages = [await call("list_issues", **REPO, limit=25, page=page) for page in (1, 2, 3)]
    numbers = [row["number"] for page in pages for row in page.items]
    assert numbers == [n for n in range(72, 0, -1) if n % 6]


async def test_filters_of_issues_reach_github(call, github):
    await call("list_issues", **REPO, labels=["bug", "help wanted"], assignee="octocat", since="2026-01-02")
    query = github.recorder.requests[0].query
    assert "labels=bug%2Chelp+wanted" in query or "labels=bug%2Chelp%20wanted" in query
    assert "assignee=octocat" in query
    assert "since=2026-01-02T00%3A00%3A00Z" in query
    assert "sort=created" in query


async def test_only_issues_with_the_label_and_the_assignee_that_are_asked_for_come_back(call):
    every = (await call("list_issues", **REPO, limit=100)).items
    for wanted in ("octocat", "none"):
        found = (await call("list_issues", **REPO, assignee=wanted, limit=100)).items
        assert found == [
            row for row in every if row.get("assignees", []) == ([] if wanted == "none" else [wanted])
        ]
    labels = {label for row in every for label in row.get("labels", [])}
    assert labels
    for label in labels:
        found = (await call("list_issues", **REPO, labels=[label], limit=100)).items
        assert found == [row for row in every if label in row.get("labels", [])]
    assert (await call("list_issues", **REPO, labels=["no such label"])).items == []


async def test_unicode_titles_arrive_unchanged(call):
    result = await call("list_pull_requests", **REPO)
    assert next(row["title"] for row in result.items if row["number"] == 2) == UNICODE_TITLE


async def test_commits_are_listed_by_their_first_line(call):
    result = await call("list_commits", **REPO, limit=30)
    assert (len(result.items), result.total) == (30, 45)
    assert result.items[0]["message"] == "Fix all the bugs"
    assert result.items[0]["author"] == "octocat"


async def test_releases_are_listed_with_their_notes(call):
    result = await call("list_releases", **REPO)
    assert (len(result.items), result.total) == (10, 12)
    assert result.items[0]["tag"] == "v1.0.1"
    assert result.items[0]["notes"] == "Description of the release"


async def test_workflow_runs_show_their_conclusion_or_else_their_status(call):
    result = await call("list_workflow_runs", **REPO)
    assert [row["status"] for row in result.items] == ["failure", "queued"]
    failed = await call("list_workflow_runs", **REPO, status="failure")
    assert [row["status"] for row in failed.items] == ["failure"]


async def test_repositories_are_found_by_words(call):
    result = await call("search_repositories", query="tetris")
    assert result.total == 1
    assert result.items[0]["name"] == "dtrupenn/Tetris"
    assert result.items[0]["license"] == "MIT"


async def test_without_a_token_a_list_of_repositories_says_what_a_token_would_add(call, call_signed_in):
    public = await call("list_repositories", owner="octocat")
    assert public.note == "Public repositories only; GITHUB_TOKEN adds private ones."
    assert (await call_signed_in("list_repositories", owner="octocat")).note is None


async def test_an_organisation_is_asked_for_what_the_token_may_see(call_signed_in, github):
    await call_signed_in("list_repositories", owner="octo-org")
    assert github.recorder.paths() == ["/users/octo-org", "/orgs/octo-org/repos"]


async def test_code_is_searched_within_the_repository(call_signed_in, github):
    result = await call_signed_in("search_code", query="addClass", owner="jquery", repo="jquery")
    assert result.items[0]["path"] == "src/attributes/classes.js"
    assert "repo%3Ajquery%2Fjquery" in github.recorder.requests[0].query


async def test_github_enterprise_is_read_under_its_own_path(github, clients):
    call = caller(clients(f"{github.url}/api/v3"))
    assert (await call("list_pull_requests", **REPO)).total == 60
    assert github.recorder.paths() == ["/api/v3/repos/octocat/hello-world/pulls"]


async def test_loopback_is_reached_without_the_proxy_of_the_environment(github, clients, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert os.environ["HTTP_PROXY"]
    call = caller(clients(github.url, GITHUB_MAX_RETRIES="0"))
    assert (await call("list_pull_requests", **REPO)).total == 60


@pytest.mark.parametrize(
    "given, sent",
    [
        ("2026-01-15", "2026-01-15T00:00:00Z"),
        ("2026-01-15T10:30:00+02:00", "2026-01-15T08:30:00Z"),
        ("2026-01-15T10:30:00Z", "2026-01-15T10:30:00Z"),
    ],
)
async def test_dates_reach_github_in_the_form_that_it_takes(call, github, given, sent):
    await call("list_commits", **REPO, since=given, branch="main")
    query = parse_qs(github.recorder.requests[0].query)
    assert (query["since"], query["sha"]) == ([sent], ["main"])


async def test_a_date_that_is_none_is_refused_before_a_request(call, github):
    with pytest.raises(ValidationError, match="a date"):
        await call("list_commits", **REPO, since="last week")
    assert github.recorder.requests == []


async def test_branches_are_listed_with_their_protection(call):
    result = await call("list_branches", **REPO)
    assert result.total == 3
    assert result.items[0] == {"name": "master", "sha": "c5b97d5ae6c1", "protected": True, "default": True}
    assert [row["default"] for row in result.items[1:]] == [False, False]


async def test_tags_are_listed_with_their_commits(call):
    result = await call("list_tags", **REPO, limit=2)
    assert result.items == [
        {"name": "v1.0.1", "sha": "c5b97d5ae6c1"},
        {"name": "v1.0.2", "sha": "c5b97d5ae6c1"},
    ]


async def test_merged_pull_requests_are_those_that_were_merged(call):
    result = await call("list_pull_requests", **REPO, state="merged")
    assert {row["state"] for row in result.items} == {"merged"}
    assert [row["number"] for row in result.items] == [72, 60, 48, 36, 24, 12]


@pytest.mark.parametrize(
    "condition, kept",
    [
        ({"author": "Hubot"}, lambda row: row["author"] == "hubot"),
        ({"draft": True}, lambda row: row["state"] == "draft"),
        ({"draft": False}, lambda row: row["state"] == "open"),
        ({"since": "2026-01-03"}, lambda row: row["updated"] >= "2026-01-03"),
        ({"until": "2026-01-02"}, lambda row: row["updated"] < "2026-01-03"),
        ({"until": "2026-01-02T23:59:59"}, lambda row: row["updated"] < "2026-01-03"),
        (
            {"since": "2026-01-02", "until": "2026-01-02T23:59:59", "dated": "opened"},
            lambda row: row["created"] == "2026-01-02",
        ),
        ({"labels": ["BUG"]}, lambda row: "bug" in row["labels"]),
        ({"labels": ["no such label"]}, lambda row: False),
    ],
)
async def test_conditions_that_githubs_list_of_pull_requests_lacks_are_met_all_the_same(
    call, condition, kept
):
    every = await call("list_pull_requests", **REPO)
    found = await call("list_pull_requests", **REPO, **condition)
    assert [row["number"] for row in found.items] == [row["number"] for row in every.items if kept(row)]


@pytest.mark.parametrize(
    "tool, state, path, end",
    [
        ("list_issues", "closed", "issues", "closed_at"),
        ("list_pull_requests", "merged", "pulls", "merged_at"),
    ],
)
async def test_the_time_of_what_has_ended_is_when_it_ended(elsewhere, tool, state, path, end):
    changed: dict[str, object] = {"updated_at": "2026-03-01T00:00:00Z", "created_at": "2025-01-01T00:00:00Z"}
    rows = [changed | {"number": n, end: f"2026-0{n}-15T00:00:00Z"} for n in (1, 2, 3)]
    call = elsewhere({path: lambda: JSONResponse(rows)})
    found = await call(tool, **REPO, state=state, since="2026-02-01", until="2026-02-28")
    assert [row["number"] for row in found.items] == [2]


@pytest.mark.parametrize(
    "tool, period, count",
    [
        ("list_workflow_runs", {"since": "2020-01-01", "until": "2020-02-01"}, 2),
        ("list_workflow_runs", {"since": "2020-02-01"}, 0),
        ("list_releases", {"since": "2013-02-27", "until": "2013-02-28"}, 10),
        ("list_releases", {"since": "2013-02-27", "until": "2013-02-27"}, 10),
        ("list_releases", {"until": "2013-02-26"}, 0),
    ],
)
async def test_runs_and_releases_of_a_period_are_listed(call, tool, period, count):
    assert len((await call(tool, **REPO, **period)).items) == count


async def test_issues_are_listed_by_author_and_in_the_order_asked_for(call):
    result = await call("list_issues", **REPO, author="hubot", direction="asc")
    assert {row["author"] for row in result.items} == {"hubot"}
    numbers = [row["number"] for row in result.items]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("tool", ["list_issues", "list_pull_requests", "list_workflow_runs"])
async def test_rows_have_their_addresses_where_these_are_asked_for(call, tool):
    plain = await call(tool, **REPO, limit=2)
    assert all("url" not in row for row in plain.items)
    linked = await call(tool, **REPO, limit=2, include_links=True)
    assert all(row["url"].startswith("https://github.com/") for row in linked.items)


async def test_issues_about_something_are_those_with_its_words_in_their_titles(call, github):
    result = await call("list_issues", **REPO, about="bug 7", labels=["bug"], assignee="none")
    assert [row["title"] for row in result.items] == ["Found a bug 7"]
    asked = github.recorder.requests[-1]
    assert asked.path == "/search/issues"
    assert unquote_plus(asked.query).split("&")[0] == (
        'q=bug 7 in:title is:issue repo:octocat/hello-world is:open no:assignee label:"bug"'
    )


async def test_a_word_of_a_title_that_looks_like_a_condition_of_the_search_is_none(call, github):
    await call("list_issues", **REPO, about="repo:octo-org/secret")
    assert 'q="repo:octo-org/secret" in:title' in unquote_plus(github.recorder.requests[-1].query)
