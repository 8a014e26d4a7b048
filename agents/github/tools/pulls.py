"""Pull requests: list them, read one with its changes, reviews, checks and comments."""

from __future__ import annotations

import asyncio
from typing import Literal

from pydantic import Field

from agents.github.client import GitHubClient, Row, path_of
from agents.github.paging import read_list
from agents.github.tools.arguments import Changing, LimitArgument, Linked, PageArgument, RepositoryArguments
from agents.github.tools.changed_files import changed_file, patches
from agents.github.tools.listing import list_of_repository
from agents.github.tools.project import clip, comment, day, field, login, names, one_line, text
from agents.github.tools.spec import ToolSpec
from utils.errors import UpstreamRefused
from utils.messages.results import Items, Record

_BODY = 4_000
"""Characters kept of a description."""
_COMMENT = 500
"""Characters kept of a review or a comment."""
_COMMENTS = 20
"""Comments on a page; the last page is read."""
_FILES = 100


class ListPullRequests(RepositoryArguments, Linked, Changing):
    """Which pull requests to list."""

    state: Literal["open", "closed", "merged", "all"] = Field(
        "open", description="Which ones; closed ones may be merged."
    )
    author: str | None = Field(None, description="Opened by this user.")
    labels: list[str] = Field(default_factory=list, description="With all of these.")
    draft: bool | None = Field(None, description="Only drafts, or none.")
    base: str | None = Field(None, description="Into this branch.")
    sort: Literal["created", "updated", "popularity", "long-running"] = Field("created", description="Order.")
    direction: Literal["desc", "asc"] = Field("desc", description="desc: newest first.")
    limit: LimitArgument = 100
    page: PageArgument = 1


class GetPullRequest(RepositoryArguments):
    """Which pull request to read."""

    number: int = Field(ge=1, description="Number of the pull request.")
    include_diff: bool = Field(False, description="Include the changed lines.")


async def list_pull_requests(github: GitHubClient, args: ListPullRequests) -> Items:
    """List one page."""
    state = "closed" if args.state == "merged" else args.state
    params = {"state": state, "base": args.base, "sort": args.sort, "direction": args.direction}
    bounded = args.since or args.until
    filtered = args.state == "merged" or args.author or args.labels or bounded or args.draft is not None
    keep = (lambda raw: _is_wanted(raw, args)) if filtered else None
    return await list_of_repository(
        github, args, "pull requests", "pulls", row=_row, params=params, keep=keep
    )


def _is_wanted(raw: Row, args: ListPullRequests) -> bool:
    """Whether a row meets the conditions that GitHub's own list does not know."""
    merged = args.state == "merged"
    return (
        (not merged or bool(raw.get("merged_at")))
        and (args.author is None or (login(raw.get("user")) or "").lower() == args.author.lower())
        and {label.lower() for label in args.labels} <= {name.lower() for name in names(raw.get("labels"))}
        and args.draft in (None, bool(raw.get("draft")))
        and args.has(args.moment(raw, args.state))
    )


async def get_pull_request(github: GitHubClient, args: GetPullRequest) -> Record:
    """One pull request, its files and its reviews, read at the same time; then its last comments and its last commit's runs."""
    what = f"pull request #{args.number} of {args.full_name}"
    path = path_of("repos", args.owner, args.repo, "pulls", args.number)
    raw, files, reviews = await asyncio.gather(
        github.get_row(path, what),
        read_list(github, f"{path}/files", f"the files of {what}", {}, limit=_FILES),
        read_list(github, f"{path}/reviews", f"the reviews of {what}", {}, limit=_FILES),
    )
    comments, checks = await asyncio.gather(
        _comments(github, args, raw.get("comments")),
        _checks(github, args, text(field(raw, "head", "sha"))),
    )
    item = _record(raw) | {
        "files": [changed_file(row) for row in files.rows],
        "reviews": [_review(row) for row in reviews.rows],
        "discussion": comments,
        "checks": checks,
    }
    if args.include_diff:
        item["diff"] = patches(files.rows)
    note = "Not all changed files are listed." if files.more else None
    return Record(kind="pull request", item=item, note=note, source=text(raw.get("html_url")))


async def _comments(github: GitHubClient, args: GetPullRequest, count: object) -> list[str]:
    """The last page of what is said in the conversation: GitHub lists its comments with those of issues, the oldest first."""
    if not isinstance(count, int) or count < 1:
        return []
    path = path_of("repos", args.owner, args.repo, "issues", args.number, "comments")
    what, page = f"the comments of pull request #{args.number} of {args.full_name}", -(-count // _COMMENTS)
    found = await read_list(github, path, what, {}, limit=_COMMENTS, page=page)
    return [comment(row, _COMMENT) for row in found.rows]


async def _checks(github: GitHubClient, args: GetPullRequest, commit: str | None) -> list[str] | str:
    """How the workflow runs of a commit ended, or a word on why none are there."""
    path, what = (
        path_of("repos", args.owner, args.repo, "actions", "runs"),
        f"the workflow runs of {args.full_name}",
    )
    try:
        found = await read_list(github, path, what, {"head_sha": commit}, limit=_FILES, key="workflow_runs")
    except UpstreamRefused:
        return "cannot be read"
    return [
        f"{text(run.get('name'))}: {text(run.get('conclusion')) or text(run.get('status'))}"
        for run in found.rows
    ] or "no workflow runs"


def _row(raw: Row) -> Row:
    return {
        "number": raw.get("number"),
        "title": one_line(raw.get("title"), 120),
        "author": login(raw.get("user")),
        "state": _state(raw),
        "labels": names(raw.get("labels")),
        "base": text(field(raw, "base", "ref")),
        "head": text(field(raw, "head", "ref")),
        "created": day(raw.get("created_at")),
        "updated": day(raw.get("updated_at")),
        "reviewers": names(raw.get("requested_reviewers"), "login"),
    }


def _state(raw: Row) -> str | None:
    """open, draft, merged or closed, which GitHub spreads over three fields."""
    if raw.get("merged_at"):
        return "merged"
    if raw.get("draft") and raw.get("state") == "open":
        return "draft"
    return text(raw.get("state"))


def _record(raw: Row) -> Row:
    return _row(raw) | {
        "description": clip(text(raw.get("body")) or "", _BODY),
        "assignees": names(raw.get("assignees"), "login"),
        "milestone": text(field(raw, "milestone", "title")),
        "mergeable": text(raw.get("mergeable_state")),
        "merged": day(raw.get("merged_at")),
        "merged_by": login(raw.get("merged_by")),
        "commits": raw.get("commits"),
        "comments": raw.get("comments"),
        "additions": raw.get("additions"),
        "deletions": raw.get("deletions"),
        "changed_files": raw.get("changed_files"),
    }


def _review(raw: Row) -> str:
    said = one_line(raw.get("body"), _COMMENT)
    head = f"{login(raw.get('user')) or 'someone'} {str(raw.get('state') or '').lower()}"
    when = day(raw.get("submitted_at"))
    return head + (f" on {when}" if when else "") + (f": {said}" if said else "")


LIST_PULL_REQUESTS = ToolSpec(
    name="list_pull_requests",
    description="List the pull requests of a repository, by state, author, label, branch or date.",
    arguments=ListPullRequests,
    run=list_pull_requests,
    examples=(
        "List the open pull requests of octocat/hello-world",
        "Show the closed PRs in kubernetes/kubernetes",
        "Which pull requests are waiting for review in octo-org/octo-repo?",
        "How many open pull requests does django/django have?",
        "What was merged lately in octocat/hello-world?",
        "Which pull requests of octo-org/octo-repo got merged since 2026-01-01?",
        "All PRs into the branch release of octo-org/octo-repo",
        "Which changes are proposed for django/django at the moment?",
        "Are there any pull requests by octocat in octo-org/octo-repo?",
    ),
)

GET_PULL_REQUEST = ToolSpec(
    name="get_pull_request",
    description="Read one pull request by its number: text, files, reviews, checks, last comments.",
    arguments=GetPullRequest,
    run=get_pull_request,
    examples=(
        "Show pull request 1347 of octocat/hello-world",
        "What does PR #12 in octo-org/octo-repo change?",
        "Who reviewed pull request 7 of django/django?",
        "Summarise the diff of octocat/hello-world#1347",
        "Is pull request 42 of octo-org/octo-repo merged?",
        "Who approved pull request 8 of octocat/hello-world?",
        "Did the checks of pull request 15 of django/django pass?",
        "Is CI green on pull request 7 of octo-org/octo-repo?",
    ),
)
