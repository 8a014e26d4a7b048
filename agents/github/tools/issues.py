"""Issues: list them without pull requests, read one with its comments."""

from __future__ import annotations

import asyncio
from typing import Literal

from pydantic import Field

from agents.github.client import GitHubClient, Row, path_of
from agents.github.paging import read_list
from agents.github.tools.arguments import Changing, LimitArgument, Linked, PageArgument, RepositoryArguments
from agents.github.tools.listing import list_of_repository
from agents.github.tools.project import (
    clip,
    comment,
    day,
    field,
    items,
    login,
    names,
    one_line,
    page_url,
    text,
)
from agents.github.tools.spec import ToolSpec
from utils.messages.results import Items, Record

_BODY = 6_000
"""Characters kept of an issue's text."""
_COMMENT = 1_000
"""Characters kept of one comment."""


class ListIssues(RepositoryArguments, Linked, Changing):
    """Which issues to list."""

    state: Literal["open", "closed", "all"] = Field("open", description="Which ones.")
    labels: list[str] = Field(default_factory=list, description="With all of these.")
    author: str | None = Field(None, description="Opened by this user.")
    assignee: str | None = Field(None, description="A user, none or *.")
    about: str | None = Field(None, max_length=200, description="Words in the title.")
    sort: Literal["created", "updated", "comments"] = Field("created", description="Order.")
    direction: Literal["desc", "asc"] = Field("desc", description="desc: newest first.")
    limit: LimitArgument = 100
    page: PageArgument = 1


class GetIssue(RepositoryArguments):
    """Which issue to read."""

    number: int = Field(ge=1, description="Number of the issue.")
    limit: LimitArgument = 30
    page: PageArgument = Field(1, description="Page of the comments, from 1.")


async def list_issues(github: GitHubClient, args: ListIssues) -> Items:
    """List one page; GitHub's own list mixes issues with pull requests, and knows no words of titles, which its search does."""
    if args.about:
        return await _search(github, args)
    params = {
        "state": args.state,
        "labels": ",".join(args.labels) or None,
        "creator": args.author,
        "assignee": args.assignee,
        "since": args.since,
        "sort": args.sort,
        "direction": args.direction,
    }
    return await list_of_repository(
        github, args, "issues", "issues", row=_row, params=params, keep=lambda raw: _is_wanted(raw, args)
    )


async def _search(github: GitHubClient, args: ListIssues) -> Items:
    """One page of the issues with all words of `about` in their titles."""
    words = (f'"{word}"' if ":" in word else word for word in (args.about or "").replace('"', " ").split())
    named = {"author": args.author, "assignee": args.assignee} | {
        f"label:{n}": name for n, name in enumerate(args.labels)
    }
    query = [
        *words,
        "in:title is:issue",
        f"repo:{args.full_name}",
        *([f"is:{args.state}"] if args.state != "all" else []),
        *(_qualifier(name.split(":")[0], value) for name, value in named.items() if value),
        *(
            [f"{args.date(args.state)}:{args.since or '*'}..{args.until or '*'}"]
            if args.since or args.until
            else []
        ),
    ]
    listing = await read_list(
        github,
        "search/issues",
        f"the issues of {args.full_name}",
        {"q": " ".join(query), "sort": args.sort, "order": args.direction},
        limit=args.limit,
        page=args.page,
        key="items",
    )
    linked = ({"url": text(raw.get("html_url"))} if args.include_links else {} for raw in listing.rows)
    rows = [_row(raw) | link for raw, link in zip(listing.rows, linked, strict=True)]
    return items("issues", listing, rows, source=page_url(github, listing.rows, args.full_name, "issues"))


def _qualifier(name: str, value: str) -> str:
    """One of GitHub's search; nobody and anybody as assignees are said otherwise there than in its lists."""
    if name == "assignee" and value in ("none", "*"):
        return "no:assignee" if value == "none" else "-no:assignee"
    return name + ':"' + value.replace('"', "") + '"'


async def get_issue(github: GitHubClient, args: GetIssue) -> Record:
    """One issue and a page of its comments, read at the same time."""
    what = f"issue #{args.number} of {args.full_name}"
    path = path_of("repos", args.owner, args.repo, "issues", args.number)
    raw, comments = await asyncio.gather(
        github.get_row(path, what),
        read_list(
            github, f"{path}/comments", f"the comments of {what}", {}, limit=args.limit, page=args.page
        ),
    )
    item = _row(raw) | {
        "text": clip(text(raw.get("body")) or "", _BODY),
        "milestone": text(field(raw, "milestone", "title")),
        "closed": day(raw.get("closed_at")),
        "closed_by": login(raw.get("closed_by")),
        "reason": text(raw.get("state_reason")),
        "discussion": [comment(row, _COMMENT) for row in comments.rows],
    }
    note = f"Page {args.page + 1} has more comments." if comments.more else None
    return Record(kind="issue", item=item, note=note, source=text(raw.get("html_url")))


def _is_wanted(raw: Row, args: ListIssues) -> bool:
    """Whether a row is an issue of the period; GitHub's own `since` is of the last change."""
    return raw.get("pull_request") is None and args.has(args.moment(raw, args.state))


def _row(raw: Row) -> Row:
    return {
        "number": raw.get("number"),
        "title": one_line(raw.get("title"), 120),
        "author": login(raw.get("user")),
        "state": text(raw.get("state")),
        "labels": names(raw.get("labels")),
        "assignees": names(raw.get("assignees"), "login"),
        "comments": raw.get("comments"),
        "created": day(raw.get("created_at")),
        "updated": day(raw.get("updated_at")),
    }


LIST_ISSUES = ToolSpec(
    name="list_issues",
    description="List the issues of a repository, by state, label, author, assignee, date or words of the title.",
    arguments=ListIssues,
    run=list_issues,
    examples=(
        "List the open issues of octocat/hello-world",
        "Which bugs are open in octo-org/octo-repo?",
        "Show closed issues labelled bug in django/django",
        "How many issues does kubernetes/kubernetes have?",
        "Which issues are assigned to octocat in octocat/hello-world?",
        "What tickets were reported since 2026-01-01 in octo-org/octo-repo?",
        "What do people complain about in django/django?",
        "Is there an open issue about timeouts in octocat/hello-world?",
        "Does any issue of octo-org/octo-repo mention a crash?",
    ),
)

GET_ISSUE = ToolSpec(
    name="get_issue",
    description="Read one issue by its number, with its comments.",
    arguments=GetIssue,
    run=get_issue,
    examples=(
        "Show issue 1347 of octocat/hello-world",
        "What is issue #5 in octo-org/octo-repo about?",
        "Read the comments on issue 12 of django/django",
        "Show me the last comment on issue 40 of octocat/hello-world",
        "Is issue 99 of kubernetes/kubernetes fixed?",
        "Who reported issue 3 in octocat/hello-world?",
        "Who opened #21 of octo-org/octo-repo, and is it still open?",
        "What did people say in the discussion of issue 58 of octo-org/octo-repo?",
        "Has anybody found a way round issue 7 of django/django?",
    ),
)
