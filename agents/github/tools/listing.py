"""The list of one kind of thing in a repository, as a tool result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agents.github.client import GitHubClient, Params, Row, path_of
from agents.github.paging import read_list
from agents.github.tools.project import items, page_url, text
from utils.messages.results import Items


class RepositoryPage(Protocol):
    """Arguments of a tool that lists something of a repository."""

    owner: str
    repo: str
    limit: int
    page: int

    @property
    def full_name(self) -> str:
        """`owner/repo`."""


async def list_of_repository(
    github: GitHubClient,
    args: RepositoryPage,
    kind: str,
    path: str,
    *,
    row: Callable[[Row], Row],
    params: Params | None = None,
    key: str | None = None,
    keep: Callable[[Row], bool] | None = None,
) -> Items:
    """One page of the rows at `path` below the repository, each converted by `row`; see `read_list`.

    Each has its address where the tool's arguments are `Linked` and ask for it.
    """
    segments = path.split("/")
    listing = await read_list(
        github,
        path_of("repos", args.owner, args.repo, *segments),
        f"the {kind} of {args.full_name}",
        params or {},
        limit=args.limit,
        page=args.page,
        key=key,
        keep=keep,
    )
    source = page_url(github, listing.rows, args.full_name, segments[0])
    linked = getattr(args, "include_links", False)
    rows = (row(raw) | ({"url": text(raw.get("html_url"))} if linked else {}) for raw in listing.rows)
    return items(kind, listing, rows, source=source)
