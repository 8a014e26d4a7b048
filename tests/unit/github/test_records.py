from __future__ import annotations

import pytest
from pydantic import ValidationError
from starlette.responses import JSONResponse

from agents.github.testing.data import FAILED_STEP, FILES, example
from utils.errors import UpstreamRefused

REPO = {"owner": "octocat", "repo": "hello-world"}


async def test_a_pull_request_comes_with_its_changes_and_reviews(call):
    result = await call("get_pull_request", **REPO, number=12)
    assert result.item["state"] == "merged"
    assert result.item["merged_by"] == "octocat"
    assert result.item["files"] == ["file1.txt (added, +103 -21)"]
    assert result.item["reviews"] == ["octocat approved on 2019-11-17: Here is the body for the review."]
    assert result.item["discussion"] == ["octocat on 2011-04-14: Me too"]
    assert result.item["checks"][0] == "Build: failure"
    assert "diff" not in result.item
    assert result.source == "https://github.com/octocat/Hello-World/pull/12"


async def test_the_changed_lines_come_when_they_are_asked_for(call):
    result = await call("get_pull_request", **REPO, number=12, include_diff=True)
    assert "@@ -132,7 +132,7 @@ module Test" in result.item["diff"]


async def test_a_commit_comes_with_the_files_that_it_changes(call):
    result = await call("get_commit", **REPO, sha="00000003dcb0")
    assert result.item["sha"] == "00000003dcb0"
    assert result.item["message"] == "Fix all the bugs"
    assert result.item["files"] == ["file1.txt (modified, +10 -2)"]
    assert (result.item["additions"], result.item["deletions"]) == (104, 4)
    assert result.item["pull_requests"] == ["#1347 Amazing new feature"]
    assert "diff" not in result.item
    with_diff = await call("get_commit", **REPO, sha="main", include_diff=True)
    assert with_diff.item["diff"].startswith("--- file1.txt\n@@ -29,7 +29,7 @@")


async def test_a_commit_that_is_not_there_is_said_so(call):
    with pytest.raises(UpstreamRefused, match=r"commit feedface of octocat/hello-world"):
        await call("get_commit", **REPO, sha="feedface")


async def test_a_commit_whose_pull_requests_a_token_may_not_read_comes_with_the_rest(elsewhere):
    forbidden = {"message": "Resource not accessible by personal access token"}
    call = elsewhere(
        {
            "commits/6dcb09b": lambda: JSONResponse(example("commit")),
            "commits/6dcb09b/pulls": lambda: JSONResponse(forbidden, 403),
        }
    )
    result = await call("get_commit", **REPO, sha="6dcb09b")
    assert result.item["pull_requests"] == "cannot be read"
    assert result.item["files"] == ["file1.txt (modified, +10 -2)"]


async def test_a_comparison_of_many_commits_and_files_says_that_not_all_are_listed(elsewhere):
    whole = example("comparison")
    many = whole | {"total_commits": 250, "files": whole["files"] * 101}
    call = elsewhere({"compare/a...b": lambda: JSONResponse(many)})
    result = await call("get_comparison", **REPO, base="a", head="b")
    assert len(result.item["files"]) == 100
    assert result.note == (
        "1 of 250 commits are listed, the oldest of them. The first 100 of the files are listed."
    )


async def test_a_comparison_says_what_one_version_has_that_another_has_not(call, github):
    result = await call("get_comparison", **REPO, base="v1.0.1", head="release-1")
    assert (result.item["ahead_by"], result.item["behind_by"]) == (1, 2)
    assert result.item["commits"] == ["6dcb09b5b578 on 2011-04-14 by octocat: Fix all the bugs"]
    assert result.item["files"] == ["file1.txt (added, +103 -21)"]
    assert github.recorder.requests[-1].path.endswith("/compare/v1.0.1...release-1")


async def test_a_comparison_without_an_end_goes_to_the_newest_commit(call, github):
    await call("get_comparison", **REPO, base="v1.0.1")
    assert github.recorder.requests[-1].path.endswith("/compare/v1.0.1...HEAD")


async def test_an_issue_comes_with_its_comments(call):
    result = await call("get_issue", **REPO, number=3)
    assert result.item["text"] == "I'm having a problem with this."
    assert result.item["discussion"] == ["octocat on 2011-04-14: Me too"]


async def test_a_file_that_is_not_in_a_repository_that_can_be_read_is_said_not_to_be_there(call):
    with pytest.raises(
        UpstreamRefused, match=r"^There is no file or folder CODEOWNERS in octocat/hello-world\.$"
    ):
        await call("get_file", **REPO, path="CODEOWNERS")
    with pytest.raises(UpstreamRefused, match=r"does not know README.md of octocat/nothing \(404\)"):
        await call("get_file", owner="octocat", repo="nothing", path="README.md")


async def test_a_file_comes_as_text(call):
    result = await call("get_file", **REPO, path="README.md")
    assert result.item["content"] == "# Hello, world\n\nGrüße aus dem Repository 🚀"
    assert result.note is None


async def test_a_part_of_a_file_says_where_to_go_on(call):
    result = await call("get_file", **REPO, path="README.md", limit=1)
    assert result.item["content"] == "# Hello, world"
    assert result.note == "There is more: go on with first_line=2."


async def test_a_file_too_large_for_json_is_read_raw(call, github):
    result = await call("get_file", **REPO, path="big.log", ref="master", first_line=40_000, limit=2)
    assert result.item["content"] == "line 40000 of a large file\nline 40001 of a large file"
    assert result.note == "There is more: go on with first_line=40002."
    assert [request.query for request in github.recorder.requests] == ["ref=master", "ref=master"]


async def test_a_file_of_one_giant_line_is_cut(call):
    result = await call("get_file", **REPO, path="min.js")
    assert len(FILES["min.js"]) == 400_000
    assert len(result.item["content"]) < 3_000
    assert result.note == "Lines of more than 2,000 characters are cut."


async def test_a_binary_file_is_named_but_not_shown(call):
    result = await call("get_file", **REPO, path="logo.png")
    assert result.item == {"path": "logo.png", "size": len(FILES["logo.png"]), "type": "file"}
    assert result.note == "This is a binary file; its contents are not shown."


async def test_githubs_own_file_example_is_no_error_though_its_base64_is_broken(call):
    result = await call("get_file", **REPO, path="example.md")
    assert result.item["size"] == 5362


async def test_a_folder_asked_for_as_a_file_is_listed(call):
    result = await call("get_file", **REPO, path="docs")
    assert [row["path"] for row in result.items] == ["docs/guide.md"]


@pytest.mark.parametrize(
    ("path", "found"), [("readme", "README.md"), ("Readme.MD", "README.md"), ("docs/GUIDE", "docs/guide.md")]
)
async def test_a_file_is_found_whatever_the_case_of_its_name_and_without_its_ending(call, path, found):
    result = await call("get_file", **REPO, path=path)
    assert result.item["path"] == found


async def test_a_folder_lists_folders_first(call):
    result = await call("list_directory", **REPO)
    assert [row["name"] for row in result.items][:3] == ["docs", "src", "README.md"]
    assert result.source == "https://github.com/octocat/hello-world/tree/HEAD"


@pytest.mark.parametrize("path", ["../../../user", "docs/../../../../../user", "./docs//../..%2f..%2fuser"])
async def test_a_path_cannot_leave_the_repository(call, github, path):
    with pytest.raises(UpstreamRefused):
        await call("get_file", **REPO, path=path)
    root = "/repos/octocat/hello-world/contents"
    assert all(path == root or path.startswith(f"{root}/") for path in github.recorder.paths())


@pytest.mark.parametrize("name", ["..", ".", "a b", "a/b?x=1", "", "a%2e"])
async def test_an_owner_that_is_no_name_is_refused_before_a_request(call, github, name):
    with pytest.raises(ValidationError):
        await call("list_pull_requests", owner=name, repo="hello-world")
    assert github.recorder.requests == []


@pytest.mark.parametrize(
    "repo", ["octocat/hello-world", "https://github.com/octocat/hello-world.git", "hello-world/"]
)
async def test_a_repository_given_with_its_owner_or_address_is_understood(call, repo):
    assert (await call("list_releases", owner="octocat", repo=repo)).total == 12


async def test_a_workflow_run_names_its_failed_jobs_and_steps(call):
    result = await call("get_workflow_run", **REPO, run_id=30433642)
    assert result.item["status"] == "failure"
    assert result.item["failed_jobs"] == ["build (job_id 399444497)"]
    assert result.item["jobs"][1] == f"build: failure (job_id 399444497, failed step: {FAILED_STEP})"


async def test_the_number_of_a_run_is_no_id(call):
    with pytest.raises(UpstreamRefused):
        await call("get_workflow_run", **REPO, run_id=562)


@pytest.mark.parametrize("which", [{"job_id": 399444497}, {"run_id": 30433642}, {}])
async def test_a_job_log_shows_the_failing_step_and_the_end(call_signed_in, which):
    result = await call_signed_in("get_job_logs", **REPO, **which)
    assert result.item["job_id"] == 399444497
    assert result.item["failed_step"] == FAILED_STEP
    assert result.item["errors"] == ["Process completed with exit code 1."]
    excerpt = result.item["error_excerpt"].splitlines()
    assert excerpt[-1] == "##[error]Process completed with exit code 1."
    assert '  Actual: "Grüße"' in excerpt
    assert "bundle exec rake" in excerpt, "colours are taken out"
    tail = result.item["tail"].splitlines()
    assert (len(tail), tail[-1]) == (10, "Cleaning up 99")
    assert result.item["log_lines"] > 3_000


async def test_the_tail_is_as_long_as_asked(call_signed_in):
    result = await call_signed_in("get_job_logs", **REPO, job_id=399444497, limit=5)
    assert result.item["tail"].splitlines() == [f"Cleaning up {number}" for number in range(95, 100)]


async def test_strange_characters_of_a_path_stay_in_the_path(call, github):
    with pytest.raises(UpstreamRefused):
        await call("get_file", **REPO, path="a?ref=x#y%41/ü b.txt")
    assert github.recorder.paths()[0] == (
        "/repos/octocat/hello-world/contents/a%3Fref%3Dx%23y%2541/%C3%BC%20b.txt"
    )
    assert github.recorder.requests[0].query == ""


async def test_a_repository_tells_its_stars_license_and_default_branch(call):
    result = await call("get_repository", owner="octocat", repo="hello-world")
    assert result.kind == "repository"
    assert (result.item["stars"], result.item["forks"], result.item["license"]) == (80, 9, "MIT")
    assert result.item["default_branch"] == "master"
