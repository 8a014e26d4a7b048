"""Repositories: find them, list them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from agents.github.client import GitHubClient, Row, path_of
from agents.github.paging import Listing, read_list
from agents.github.tools.arguments import LimitArgument, Owner, PageArgument, RepositoryArguments
from agents.github.tools.project import day, field, items, one_line, page_url, text
from agents.github.tools.spec import ToolSpec
from utils.errors import UpstreamRefused
from utils.messages.results import Items, Record


class SearchRepositories(BaseModel):
    """What to search for among all repositories."""

    query: str = Field(
        min_length=1,
        max_length=256,
        description="Words, qualifiers: language:go, stars:>100, org:NAME.",
    )
    sort: Literal["best-match", "stars", "forks", "updated"] = Field("best-match", description="Order.")
    limit: LimitArgument = 10
    page: PageArgument = 1


class ListRepositories(BaseModel):
    """Whose repositories to list."""

    owner: Owner | None = Field(
        None, description="User or organisation; the token's own repositories when omitted."
    )
    limit: LimitArgument = 30
    page: PageArgument = 1


class GetRepository(RepositoryArguments):
    """Which repository to read."""


async def get_repository(github: GitHubClient, args: GetRepository) -> Record:
    """What GitHub says of one repository."""
    raw = await github.get_row(path_of("repos", args.owner, args.repo), f"repository {args.full_name}")
    item = _row(raw) | {
        "forks": raw.get("forks_count"),
        "watchers": raw.get("subscribers_count"),
        "topics": raw.get("topics"),
        "created": day(raw.get("created_at")),
        "homepage": text(raw.get("homepage")),
    }
    return Record(kind="repository", item=item, source=text(raw.get("html_url")))


async def search_repositories(github: GitHubClient, args: SearchRepositories) -> Items:
    """Search by words and qualifiers."""
    listing = await read_list(
        github,
        "search/repositories",
        "the repository search",
        {"q": args.query, "sort": None if args.sort == "best-match" else args.sort},
        limit=args.limit,
        page=args.page,
        key="items",
    )
    return items("repositories", listing, map(_row, listing.rows))


async def list_repositories(github: GitHubClient, args: ListRepositories) -> Items:
    """List by owner, the most recently changed first."""
    if args.owner is None:
        return await _own_repositories(github, args)
    listing = await _repositories_of(github, args.owner, args)
    note = "" if github.has_token else "Public repositories only; GITHUB_TOKEN adds private ones."
    source = page_url(github, listing.rows, args.owner)
    return items("repositories", listing, map(_row, listing.rows), source=source, note=note)


async def _own_repositories(github: GitHubClient, args: ListRepositories) -> Items:
    if not github.has_token:
        raise UpstreamRefused(
            "Whose repositories? Name a user or an organisation. Without GITHUB_TOKEN there is no account of one's own."
        )
    listing = await read_list(
        github, "user/repos", "the token's repositories", _ORDER, limit=args.limit, page=args.page
    )
    return items("repositories", listing, map(_row, listing.rows))


async def _repositories_of(github: GitHubClient, owner: str, args: ListRepositories) -> Listing:
    """The repositories of an owner. An organisation's list includes private ones for a token; the users' list is public only."""
    what = f"the repositories of {owner}"
    if github.has_token and await _is_organisation(github, owner):
        path = path_of("orgs", owner, "repos")
    else:
        path = path_of("users", owner, "repos")
    return await read_list(github, path, what, _ORDER, limit=args.limit, page=args.page)


async def _is_organisation(github: GitHubClient, owner: str) -> bool:
    account = await github.get_row(path_of("users", owner), f"the account {owner}")
    return account.get("type") == "Organization"


def _row(raw: Row) -> Row:
    return {
        "name": text(raw.get("full_name")) or text(raw.get("name")),
        "description": one_line(raw.get("description"), 140),
        "language": text(raw.get("language")),
        "stars": raw.get("stargazers_count"),
        "open_issues": raw.get("open_issues_count"),
        "license": text(field(raw, "license", "spdx_id")),
        "default_branch": text(raw.get("default_branch")),
        "private": raw.get("private"),
        "archived": raw.get("archived"),
        "pushed": day(raw.get("pushed_at")),
        "url": text(raw.get("html_url")),
    }


_ORDER = {"sort": "pushed", "direction": "desc"}

SEARCH_REPOSITORIES = ToolSpec(
    name="search_repositories",
    description="Search repositories by words, language, topic or stars.",
    arguments=SearchRepositories,
    run=search_repositories,
    examples=(
        "Find repositories about Kubernetes operators in Go",
        "Search GitHub for a Python web framework",
        "Which repositories have the topic terraform?",
        "Look for popular machine learning projects",
        "Is there a repository called hello-world?",
        "Which open source projects are there for load testing?",
        "Popular libraries in Rust that parse YAML",
        "Does anything exist on GitHub for feature flags?",
        "I am after open source projects for code formatting, what is there?",
    ),
)

GET_REPOSITORY = ToolSpec(
    name="get_repository",
    description="Read one repository: description, language, stars, license, topics.",
    arguments=GetRepository,
    run=get_repository,
    examples=(
        "How many stars does octocat/hello-world have?",
        "What is the description of octo-org/octo-repo?",
        "Which license does django/django have?",
        "Give me an overview of octocat/hello-world: stars, language, open issues, last update",
        "What is the default branch of octocat/hello-world?",
        "In which language is octo-org/octo-repo written?",
        "Is octocat/hello-world archived or private?",
        "How many forks, watchers and contributors does django/django have?",
    ),
)

LIST_REPOSITORIES = ToolSpec(
    name="list_repositories",
    description="List the repositories of a user or an organisation.",
    arguments=ListRepositories,
    run=list_repositories,
    examples=(
        "List the repositories of octocat",
        "Which repositories does the organisation octo-org have?",
        "Show my repositories",
        "What projects does torvalds own on GitHub?",
        "Show all repos of kubernetes",
        "What is under the account octo-org?",
        "Which code does the octo-org organisation publish?",
    ),
)
