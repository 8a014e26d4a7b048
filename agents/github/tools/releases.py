"""Releases of a repository."""

from __future__ import annotations

from agents.github.client import GitHubClient, Row
from agents.github.tools.arguments import LimitArgument, Paged, RepositoryArguments, Within
from agents.github.tools.listing import list_of_repository
from agents.github.tools.project import clip, day, login, names, text
from agents.github.tools.spec import ToolSpec
from utils.messages.results import Items

_NOTES = 600
"""Characters kept of a release's notes."""


class ListReleases(RepositoryArguments, Paged, Within):
    """Which releases to list."""

    limit: LimitArgument = 10


async def list_releases(github: GitHubClient, args: ListReleases) -> Items:
    """List one page, the newest first."""
    keep = (lambda raw: args.has(raw.get("published_at"))) if args.since or args.until else None
    return await list_of_repository(github, args, "releases", "releases", row=_row, keep=keep)


def _row(raw: Row) -> Row:
    return {
        "tag": text(raw.get("tag_name")),
        "name": text(raw.get("name")),
        "author": login(raw.get("author")),
        "published": day(raw.get("published_at")),
        "prerelease": raw.get("prerelease"),
        "draft": raw.get("draft"),
        "assets": names(raw.get("assets"))[:10],
        "notes": clip(text(raw.get("body")) or "", _NOTES),
        "url": text(raw.get("html_url")),
    }


LIST_RELEASES = ToolSpec(
    name="list_releases",
    description="List the releases of a repository with their notes, by date.",
    arguments=ListReleases,
    run=list_releases,
    examples=(
        "What is the latest release of octocat/hello-world?",
        "List the releases of octo-org/octo-repo",
        "When was the last version of django/django published?",
        "Show the release notes of octocat/hello-world",
        "Which version of kubernetes/kubernetes is current?",
        "What is new in the last versions of octo-org/octo-repo?",
        "Has octocat/hello-world been released lately?",
        "When was the newest tag of octo-org/octo-repo published?",
        "Is version v1.2 of octocat/hello-world a prerelease?",
    ),
)
