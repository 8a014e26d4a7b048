"""Commits of a repository."""

from __future__ import annotations

from pydantic import Field

from agents.github.client import GitHubClient, Row
from agents.github.tools.arguments import Moment, Paged, RepositoryArguments
from agents.github.tools.listing import list_of_repository
from agents.github.tools.project import day, field, login, one_line, text
from agents.github.tools.spec import ToolSpec
from utils.messages.results import Items


class ListCommits(RepositoryArguments, Paged):
    """Which commits to list."""

    branch: str | None = Field(None, description="Branch, tag or commit; the default branch when omitted.")
    path: str | None = Field(None, description="File or folder.")
    author: str | None = Field(None, description="User or e-mail address.")
    since: Moment | None = Field(None, description="After.")
    until: Moment | None = Field(None, description="Before.")


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


def _row(raw: Row) -> Row:
    message = text(field(raw, "commit", "message")) or ""
    return {
        "sha": str(raw.get("sha") or "")[:12],
        "message": one_line(message.split("\n", 1)[0], 160),
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
        "What is the history of README.md in octocat/hello-world?",
        "Who last changed the file setup.py in django/django?",
        "Who was the last person to push to octocat/hello-world, and when?",
        "What landed in octo-org/octo-repo most recently?",
        "Who made the last commit on the default branch of octocat/hello-world, and with which message?",
        "Who touched src/main.py of octo-org/octo-repo lately?",
        "What has octocat pushed to octo-org/octo-repo this week?",
        "What happened on main of octocat/hello-world between Monday and Friday?",
    ),
)
