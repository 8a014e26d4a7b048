from __future__ import annotations

import asyncio
import re
import traceback

import pytest

from agents.github.testing.faults import FAULTS, INTERNAL_PAGE
from agents.github.testing.server import GitHubServer, run_github_server
from tests.ports import free_port
from tests.unit.github.conftest import TOKEN, caller
from utils.errors import PlatformError, UpstreamRefused, UpstreamUnavailable

REPO = {"owner": "octocat", "repo": "hello-world"}
WHAT = "the pull requests of faulty/"


async def problem_of(call, repo: str, tool: str = "list_pull_requests", **arguments) -> PlatformError:
    with pytest.raises(PlatformError) as caught:
        await call(tool, owner="faulty", repo=repo, **arguments)
    return caught.value


def asked(github: GitHubServer) -> int:
    """How often the faulty repositories were asked for: a request that an earlier test left behind may come late."""
    return sum(each.path.startswith("/repos/faulty/") for each in github.recorder.requests)


@pytest.mark.listens
async def test_a_server_that_is_down_is_unavailable_after_bounded_retries(clients):
    call = caller(clients(f"http://127.0.0.1:{free_port()}"))
    async with asyncio.timeout(60):
        error = await problem_of(call, "x")
    assert isinstance(error, UpstreamUnavailable)
    assert error.message == (
        "GitHub cannot be reached, so the pull requests of faulty/x could not be read. Try again later."
    )


@pytest.mark.listens
async def test_a_server_that_goes_down_between_two_calls_is_unavailable_and_comes_back(clients):
    port = free_port()
    client = clients(f"http://127.0.0.1:{port}", GITHUB_MAX_RETRIES="0")
    call = caller(client)
    with run_github_server(port=port):
        await call("list_pull_requests", **REPO)
    with pytest.raises(UpstreamUnavailable):
        await call("list_pull_requests", **REPO)
    with run_github_server(port=port):
        assert (await call("list_pull_requests", **REPO)).total == 60


@pytest.mark.listens
async def test_a_server_that_is_too_slow_is_unavailable_and_not_asked_again(github, clients):
    call = caller(clients(github.url, GITHUB_TIMEOUT_SECONDS="0.2"))
    error = await problem_of(call, "slow")
    assert isinstance(error, UpstreamUnavailable)
    assert error.message.startswith("GitHub did not answer in time")
    assert asked(github) == 1


async def test_a_server_error_is_tried_again_as_often_as_set(github, clients):
    call = caller(clients(github.url, GITHUB_MAX_RETRIES="1"))
    error = await problem_of(call, "server-error")
    assert isinstance(error, UpstreamUnavailable)
    assert (
        error.message
        == "GitHub answers with a server error (502) for the pull requests of faulty/server-error. Try again later."
    )
    assert asked(github) == 2


async def test_a_passing_server_error_is_not_noticed(call):
    assert (await call("list_pull_requests", owner="faulty", repo="flaky")).total == 60


@pytest.mark.parametrize("kind", ["cut", "not-json", "odd"])
async def test_an_answer_that_is_not_githubs_is_unavailable(github, clients, kind):
    call = caller(clients(github.url, GITHUB_MAX_RETRIES="0"))
    assert isinstance(await problem_of(call, kind), UpstreamUnavailable)


@pytest.mark.parametrize(
    "kind, told",
    [
        (
            "unauthorized",
            "GitHub gives the pull requests of faulty/unauthorized only to who signs in (401). Set GITHUB_TOKEN.",
        ),
        ("forbidden", "GitHub refuses the pull requests of faulty/forbidden without a token (403)."),
        ("invalid", 'GitHub says: "Validation Failed; The listed users cannot be searched"'),
        ("gone", "GitHub no longer has the pull requests of faulty/gone (410)"),
        ("empty", "the repository may be empty"),
        ("legal", "GitHub refused the request for the pull requests of faulty/legal (status 451)."),
        ("secondary-limit", "GitHub asks to slow down; it takes requests again in 60 seconds."),
        ("too-many", "GitHub asks to slow down; it takes requests again in 60 seconds."),
    ],
)
async def test_a_refusal_tells_what_may_be_done(call, github, kind, told):
    error = await problem_of(call, kind)
    assert isinstance(error, UpstreamRefused)
    assert told in error.message
    assert asked(github) == 1


@pytest.mark.parametrize(
    "kind, told",
    [
        ("unauthorized", "GitHub did not accept the configured token (401)"),
        ("forbidden", "the token lacks the permission. It needs the permission contents=read."),
        ("sso", "the token must be authorised for the organisation's single sign-on"),
    ],
)
async def test_a_refusal_of_a_token_tells_what_the_token_lacks(call_signed_in, kind, told):
    assert told in (await problem_of(call_signed_in, kind)).message


async def test_an_unknown_repository_without_a_token_says_what_a_token_would_add(call, call_signed_in):
    with pytest.raises(UpstreamRefused) as caught:
        await call("list_issues", owner="octocat", repo="no-such-repo")
    assert caught.value.message == (
        "GitHub does not know the issues of octocat/no-such-repo (404): the name may be wrong, or it is private. "
        "Only public data can be read without a token; set GITHUB_TOKEN to read what the token may read."
    )
    with pytest.raises(UpstreamRefused) as caught:
        await call_signed_in("list_issues", owner="octocat", repo="no-such-repo")
    assert caught.value.message.endswith("the name may be wrong, or the token may not see it.")


@pytest.mark.parametrize(
    "tool, arguments, what",
    [
        (
            "get_file",
            {"path": "README.md", "ref": "no-such-branch"},
            "README.md of octocat/hello-world at no-such-branch",
        ),
        ("get_pull_request", {"number": 9999}, "pull request #9999 of octocat/hello-world"),
        ("get_issue", {"number": 9999}, "issue #9999 of octocat/hello-world"),
    ],
)
async def test_what_is_missing_is_named(call, tool, arguments, what):
    with pytest.raises(UpstreamRefused, match=re.escape(f"GitHub does not know {what} (404)")):
        await call(tool, **REPO, **arguments)


async def test_a_used_up_rate_limit_tells_when_it_resets_and_is_not_waited_for(call, call_signed_in, github):
    error = await problem_of(call, "rate-limit")
    assert isinstance(error, UpstreamRefused)
    assert re.fullmatch(
        r"GitHub's rate limit of 60 requests an hour is used up; it resets at \d\d:\d\d UTC, in 12 minutes\. "
        r"With a GITHUB_TOKEN the limit is 5,000 requests an hour\.",
        error.message,
    )
    assert asked(github) == 1
    assert (await problem_of(call_signed_in, "rate-limit")).message.endswith("in 12 minutes.")


async def test_a_refused_token_is_named_as_the_cause(github, clients):
    call = caller(clients(github.url, GITHUB_TOKEN="bad-token"))
    with pytest.raises(UpstreamRefused, match="may be wrong, expired or revoked"):
        await call("list_pull_requests", **REPO)


@pytest.mark.parametrize(
    "tool, arguments",
    [("search_code", {"query": "x"}), ("get_job_logs", {**REPO, "job_id": 1}), ("list_repositories", {})],
)
async def test_what_needs_a_token_says_so(call, tool, arguments):
    with pytest.raises(UpstreamRefused, match="GITHUB_TOKEN"):
        await call(tool, **arguments)


async def test_of_a_run_the_failed_job_and_step_are_told_without_its_log(call):
    result = await call("get_job_logs", **REPO)
    assert (result.item["status"], result.item["failed_step"]) == ("failure", "Run Tests")
    assert "GITHUB_TOKEN" in result.note


@pytest.mark.parametrize("kind", sorted(FAULTS))
async def test_no_error_shows_the_token_or_what_is_behind_github(github, clients, kind):
    client = clients(github.url, GITHUB_TOKEN=TOKEN, GITHUB_MAX_RETRIES="0")
    error = await problem_of(caller(client), kind)
    assert all("authorization" in request.headers for request in github.recorder.requests)
    told = "".join(traceback.format_exception(error)) + repr(client.settings)
    assert TOKEN not in told
    assert INTERNAL_PAGE not in error.message
    assert "127.0.0.1" not in error.message
    assert "\n" not in error.message


@pytest.mark.listens
async def test_the_token_stays_with_github_when_a_log_lies_elsewhere(clients):
    with run_github_server() as storage, run_github_server(log_host=storage.url) as server:
        call = caller(clients(server.url, GITHUB_TOKEN=TOKEN))
        result = await call("get_job_logs", **REPO, job_id=399444497)
    assert result.item["failed_step"] == "Run Tests"
    assert [request.path for request in storage.recorder.requests] == ["/_logs/399444497.txt"]
    assert "authorization" not in storage.recorder.requests[0].headers
    assert TOKEN not in result.model_dump_json()
    assert server.recorder.requests[0].headers["authorization"] == f"token {TOKEN}"


async def test_two_tasks_share_connections_and_see_only_their_own_answers(call):
    results = await asyncio.gather(
        *(call("get_pull_request", **REPO, number=number) for number in range(1, 21))
    )
    assert [result.item["number"] for result in results] == list(range(1, 21))


async def test_a_cancelled_call_stays_cancelled(github, clients):
    call = caller(clients(github.url))
    task = asyncio.ensure_future(call("list_pull_requests", owner="faulty", repo="slow"))
    while not github.recorder.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("repo", "wait"),
    [
        ("retry-at-a-date", r"(8\d|9[01]) seconds"),
        ("retry-in-parts", "91 seconds"),
        ("retry-at-odd-times", "60 seconds"),
        ("retry-never", "60 seconds"),
        ("reset-at-odd-times", "60 seconds"),
    ],
)
async def test_a_wait_in_any_form_is_told(call, repo, wait):
    error = await problem_of(call, repo)
    assert isinstance(error, UpstreamRefused)
    assert re.search(f"in {wait}", error.message)
