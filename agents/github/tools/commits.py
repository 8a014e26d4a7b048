"""Commits of a repository: list them, read one with its changes, compare two."""

from __future__ import annotations

import asyncio

from pydantic import Field

from agents.github.client import GitHubClient, Row, path_of
from agents.github.paging import read_list
from agents.github.tools.arguments import Paged, RepositoryArguments, Within
from agents.github.tools.changed_files import changed_file, patches
from agents.github.tools.listing import list_of_repository
from agents.github.tools.project import clip, day, field, login, one_line, rows_of, text
from agents.github.tools.spec import ToolSpec
from utils.errors import UpstreamRefused
from utils.messages.results import Items, Record

_MESSAGE = 4_000
"""Characters kept of a commit's message."""
_TITLE = 160
"""Characters kept of its first line in a list."""
_PULLS = 10
_FILES = 100
_COMMITS = 100
"""Commits of a comparison that are shown: GitHub gives the oldest first."""
_NEWEST = "HEAD"
"""GitHub's name for the newest commit of the default branch."""


class ListCommits(RepositoryArguments, Paged, Within):
    """Which commits to list."""

    branch: str | None = Field(None, description="Branch, tag or commit; the default branch when omitted.")
    path: str | None = Field(None, description="File or folder.")
    author: str | None = Field(None, description="User or e-mail address.")


class GetCommit(RepositoryArguments):
    """Which commit to read."""

    sha: str = Field(min_length=1, description="Hash, or a branch or tag for its newest commit.")
    include_diff: bool = Field(False, description="Include the changed lines.")


class GetComparison(RepositoryArguments):
    """What to compare."""

    base: str = Field(min_length=1, description="Branch, tag or commit.")
    head: str = Field(_NEWEST, min_length=1, description="Branch, tag or commit.")
    include_diff: bool = Field(False, description="Include the changed lines.")


async def list_commits(github: GitHubClient, args: ListCommits) -> Items:
    """List one page, the newest first."""
    params = {
        "sha": args.branch,
        "path": args.path,
        "author": args.author,
        "since": args.since,
        "until": args.until,
    }
    return await list_of_repository(github, args, "commits", "commits", row=_row, params=params)


async def get_commit(github: GitHubClient, args: GetCommit) -> Record:
    """One commit with the files that it changes, of which GitHub gives the first three hundred, and the pull requests that brought it."""
    what = f"commit {args.sha} of {args.full_name}"
    path = path_of("repos", args.owner, args.repo, "commits", args.sha)
    raw, pulls = await asyncio.gather(github.get_row(path, what), _pulls(github, f"{path}/pulls", what))
    files = rows_of(raw.get("files"))
    item = _row(raw) | {
        "message": clip(text(field(raw, "commit", "message")) or "", _MESSAGE),
        "additions": field(raw, "stats", "additions"),
        "deletions": field(raw, "stats", "deletions"),
        "files": [changed_file(row) for row in files[:_FILES]],
        "pull_requests": pulls,
    }
    if args.include_diff:
        item["diff"] = patches(files)
    note = f"The first {_FILES} of its files are listed." if len(files) > _FILES else None
    return Record(kind="commit", item=item, note=note, source=text(raw.get("html_url")))


async def _pulls(github: GitHubClient, path: str, what: str) -> list[str] | str:
    """The pull requests that brought a commit, or a word on why none are there: a token may read contents alone."""
    try:
        found = await read_list(github, path, f"the pull requests of {what}", {}, limit=_PULLS)
    except UpstreamRefused:
        return "cannot be read"
    return [f"#{row.get('number')} {one_line(row.get('title'), _TITLE)}" for row in found.rows]


async def get_comparison(github: GitHubClient, args: GetComparison) -> Record:
    """What `head` has that `base` has not, from their last common commit on."""
    pair = f"{args.base}...{args.head}"
    path = path_of("repos", args.owner, args.repo, "compare", pair)
    raw = await github.get_row(path, f"the comparison {pair} of {args.full_name}", per_page=_COMMITS)
    commits, files = rows_of(raw.get("commits")), rows_of(raw.get("files"))
    total = raw.get("total_commits")
    item = {
        "base": args.base,
        "head": args.head,
        "ahead_by": raw.get("ahead_by"),
        "behind_by": raw.get("behind_by"),
        "commits": [_line(row) for row in reversed(commits)],
        "files": [changed_file(row) for row in files[:_FILES]],
    }
    if args.include_diff:
        item["diff"] = patches(files)
    notes = []
    if isinstance(total, int) and total > len(commits):
        notes.append(f"{len(commits)} of {total} commits are listed, the oldest of them.")
    if len(files) > _FILES:
        notes.append(f"The first {_FILES} of the files are listed.")
    return Record(
        kind="comparison", item=item, note=" ".join(notes) or None, source=text(raw.get("html_url"))
    )


def _line(raw: Row) -> str:
    """A commit in a line: "6dcb09b5b578 on 2011-04-14 by octocat: Fix all the bugs"."""
    row = _row(raw)
    return f"{row['sha']} on {row['date']} by {row['author'] or 'someone'}: {row['message']}"


def _row(raw: Row) -> Row:
    message = text(field(raw, "commit", "message")) or ""
    return {
        "sha": str(raw.get("sha") or "")[:12],
        "message": one_line(message.split("\n", 1)[0], _TITLE),
        "author": login(raw.get("author")) or text(field(raw, "commit", "author", "name")),
        "date": day(field(raw, "commit", "author", "date")),
        "url": text(raw.get("html_url")),
    }


LIST_COMMITS = ToolSpec(
    name="list_commits",
    description="List the commits of a repository, by branch, file, author or date.",
    arguments=ListCommits,
    run=list_commits,
    examples=(
        "Show the latest commits of octocat/hello-world",
        "What changed in octo-org/octo-repo since 2026-01-01?",
        "Who committed to django/django lately?",
        "List the commits of octocat on the branch develop of octocat/hello-world",
        "What changed on the branch develop of octo-org/octo-repo since last week?",
        "What is the history of README.md in octocat/hello-world?",
        "Who last changed the file setup.py in django/django?",
        "Who was the last person to push to octocat/hello-world, and when?",
        "What landed in octo-org/octo-repo most recently?",
        "Who made the last commit on the default branch of octocat/hello-world, and with which message?",
        "Who touched src/main.py of octo-org/octo-repo lately?",
        "What has octocat pushed to octo-org/octo-repo this week?",
        "What is the hash of the newest commit, the tip, of main in octocat/hello-world?",
        "What happened on main of octocat/hello-world between Monday and Friday?",
    ),
)

GET_COMMIT = ToolSpec(
    name="get_commit",
    description="Read one commit: message, author, changed files, the pull request that brought it.",
    arguments=GetCommit,
    run=get_commit,
    examples=(
        "Show commit 6dcb09b5b578 of octocat/hello-world",
        "What did commit 7fd1a60b01f9 in octo-org/octo-repo change?",
        "Which files does commit 6dcb09b of octocat/hello-world touch?",
        "Who wrote commit 762941318ee1 of django/django, and when?",
        "The diff of commit 553c2077f0ed in octocat/hello-world",
        "Which pull request introduced commit 6dcb09b5b578 in octo-org/octo-repo?",
    ),
)

GET_COMPARISON = ToolSpec(
    name="get_comparison",
    description="Compare two branches, tags or commits: the commits and files between them.",
    arguments=GetComparison,
    run=get_comparison,
    examples=(
        "Compare v1.0.1 and v1.0.3 of octocat/hello-world",
        "What changed between v2.1 and v2.2 in octo-org/octo-repo?",
        "The difference between main and develop in django/django",
        "How far is the branch develop behind main in octocat/hello-world?",
        "Is release-1.9 ahead of main in octo-org/octo-repo?",
        "Which commits are in main and not in v4.2 of django/django?",
    ),
)
