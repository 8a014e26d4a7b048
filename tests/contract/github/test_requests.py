"""What the tools ask GitHub for, against GitHub's own description of its API."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

import pytest

from agents.github.client import GitHubClient
from agents.github.settings import GitHubSettings
from agents.github.testing.data import example
from agents.github.testing.recorder import Recorded
from agents.github.testing.server import run_github_server
from agents.github.tools import SPECS, build_tools

REPO: dict[str, Any] = {"owner": "octocat", "repo": "hello-world"}
DESCRIPTION: dict[str, dict[str, dict[str, Any]]] = example("parameters")

# Every argument of every tool, each with a value that is not its default.
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_repositories", {"query": "tetris language:assembly", "sort": "stars", "limit": 3, "page": 2}),
    ("list_repositories", {"owner": "octocat", "limit": 3, "page": 2}),
    ("list_repositories", {"owner": "octo-org"}),
    ("list_repositories", {}),
    *(
        (
            "list_pull_requests",
            {
                **REPO,
                "state": state,
                "author": "octocat",
                "labels": ["bug"],
                "draft": False,
                "since": "2026-01-01",
                "until": "2026-02-01",
                "dated": "opened",
                "base": "master",
                "sort": sort,
                "include_links": True,
                "direction": "asc",
                "limit": 7,
                "page": 2,
            },
        )
        for state in ("open", "closed", "merged", "all")
        for sort in ("created", "updated", "popularity", "long-running")
    ),
    ("get_pull_request", {**REPO, "number": 12, "include_diff": True}),
    *(
        (
            "list_issues",
            {
                **REPO,
                "state": state,
                "labels": ["bug", "help wanted"],
                "author": "octocat",
                "direction": "asc",
                "assignee": "octocat",
                "since": "2026-01-01",
                "until": "2026-02-01",
                "dated": "opened",
                "sort": sort,
                "include_links": True,
                "limit": 7,
                "page": 2,
            },
        )
        for state in ("open", "closed", "all")
        for sort in ("created", "updated", "comments")
    ),
    *(
        (
            "list_issues",
            {
                **REPO,
                "about": "bug 7",
                "labels": ["bug"],
                "assignee": who,
                "author": "octocat",
                "since": "2026-01-01",
            },
        )
        for who in ("octocat", "none", "*")
    ),
    ("get_issue", {**REPO, "number": 3, "limit": 5, "page": 2}),
    (
        "list_commits",
        {
            **REPO,
            "branch": "main",
            "path": "src/main.py",
            "author": "octocat",
            "since": "2026-01-01",
            "until": "2026-02-01",
            "limit": 7,
            "page": 2,
        },
    ),
    ("get_commit", {**REPO, "sha": "00000001dcb0", "include_diff": True}),
    ("get_comparison", {**REPO, "base": "v1.0.1", "head": "main", "include_diff": True}),
    ("get_repository", REPO),
    ("list_branches", {**REPO, "limit": 2, "page": 2}),
    ("list_tags", {**REPO, "limit": 2, "page": 2}),
    ("get_file", {**REPO, "path": "big.log", "ref": "main", "first_line": 2, "limit": 2}),
    ("list_directory", {**REPO, "path": "docs", "ref": "main"}),
    ("search_code", {"query": "addClass", "owner": "jquery", "repo": "jquery", "limit": 3, "page": 2}),
    ("list_releases", {**REPO, "since": "2013-01-01", "until": "2014-01-01", "limit": 3, "page": 2}),
    *(
        (
            "list_workflow_runs",
            {
                **REPO,
                "status": status,
                "branch": "main",
                "event": "push",
                "since": "2020-01-01",
                "until": "2020-02-01",
                "limit": 3,
                "page": 2,
                "include_links": True,
            },
        )
        for status in ("success", "failure", "cancelled", "in_progress", "queued", "completed", "timed_out")
    ),
    ("get_workflow_run", {**REPO, "run_id": 30433642}),
    ("get_job_logs", {**REPO, "job_id": 399444497, "limit": 5}),
    ("get_job_logs", {**REPO, "run_id": 30433642}),
    ("get_job_logs", {**REPO, "branch": "main"}),
    ("get_job_logs", REPO),
]


@pytest.fixture(scope="module")
def server(listens):
    with run_github_server(pulls=60) as running:
        yield running


def violations(request: Recorded) -> list[str]:
    """Where a request is not as GitHub describes it."""
    known = next(
        (query for path, query in DESCRIPTION.items() if pattern(path).fullmatch(request.path)), None
    )
    if known is None:
        return [f"GitHub has no {request.path}"]
    given = dict(parse_qsl(request.query))
    missing = [
        f"{name} is missing" for name, shape in known.items() if shape.get("required") and name not in given
    ]
    return missing + [problem for name, value in given.items() if (problem := wrong(name, value, known))]


def pattern(template: str) -> re.Pattern[str]:
    expression = re.sub(r"\\\{path\\\}", ".+", re.escape(template))
    return re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", expression))


def wrong(name: str, value: str, known: dict[str, dict[str, Any]]) -> str | None:
    if name not in known:
        return f"{name} is unknown"
    shape = known[name]
    if "enum" in shape and value not in shape["enum"]:
        return f"{name}={value} is none of {shape['enum']}"
    if shape.get("type") == "integer" and not value.isdecimal():
        return f"{name}={value} is no number"
    if shape.get("format") == "date-time":
        for end in (
            value.split("..") if name == "created" else [value]
        ):  # GitHub takes a range, as its search does
            datetime.strptime(end, "%Y-%m-%dT%H:%M:%SZ")
    return None


@pytest.mark.parametrize("tool, arguments", CALLS)
async def test_every_request_is_one_that_github_describes(server, tool, arguments):
    server.recorder.requests.clear()
    client = GitHubClient(
        GitHubSettings.load({"GITHUB_API_URL": server.url, "GITHUB_TOKEN": "token-of-the-test"})
    )
    await next(bound for bound in build_tools(client) if bound.name == tool).ainvoke(arguments)
    await client.stop()
    asked = [request for request in server.recorder.requests if not request.path.startswith("/_logs/")]
    assert asked
    assert [problem for request in asked for problem in violations(request)] == []


def test_the_calls_above_use_every_argument_of_every_tool():
    used: dict[str, set[str]] = {}
    for tool, arguments in CALLS:
        used.setdefault(tool, set()).update(arguments)
    assert used == {spec.name: set(spec.arguments.model_fields) for spec in SPECS}


@pytest.mark.parametrize(
    "path, query, told",
    [
        ("/repos/a/b/pulls", "state=merged", "state=merged is none of"),
        ("/repos/a/b/pulls", "stat=open", "stat is unknown"),
        ("/repos/a/b/pullz", "", "GitHub has no /repos/a/b/pullz"),
        ("/search/code", "", "q is missing"),
    ],
)
def test_the_check_itself_finds_what_is_wrong(path, query, told):
    assert told in violations(Recorded(path, query, {}))[0]
