"""Code search."""

from __future__ import annotations

from pydantic import BaseModel, Field

from agents.github.client import GitHubClient, Row
from agents.github.paging import read_list
from agents.github.tools.arguments import LimitArgument, Owner, PageArgument, Repo
from agents.github.tools.project import field, items, text
from agents.github.tools.spec import ToolSpec
from utils.messages.results import Items


class SearchCode(BaseModel):
    """What to search for in code."""

    query: str = Field(
        min_length=1, max_length=256, description="Words or a symbol, and qualifiers: language:go."
    )
    owner: Owner | None = Field(None, description="Only code of this user or organisation.")
    repo: Repo | None = Field(None, description="Only code of this repository of the owner.")
    limit: LimitArgument = 20
    page: PageArgument = 1


async def search_code(github: GitHubClient, args: SearchCode) -> Items:
    """Files that contain the query."""
    listing = await read_list(
        github,
        "search/code",
        "the code search",
        {"q": f"{args.query} {_scope(args)}".strip()},
        limit=args.limit,
        page=args.page,
        key="items",
    )
    return items("files", listing, map(_row, listing.rows))


def _scope(args: SearchCode) -> str:
    if args.owner and args.repo:
        return f"repo:{args.owner}/{args.repo}"
    return f"user:{args.owner}" if args.owner else ""


def _row(raw: Row) -> Row:
    return {
        "repository": text(field(raw, "repository", "full_name")),
        "path": text(raw.get("path")),
        "url": text(raw.get("html_url")),
    }


SEARCH_CODE = ToolSpec(
    name="search_code",
    description="Search code for a word or symbol, in one repository or everywhere. Needs a token.",
    arguments=SearchCode,
    run=search_code,
    examples=(
        "Where is the function addClass defined in jquery/jquery?",
        "Search the code of octo-org/octo-repo for DATABASE_URL",
        "Find usages of parse_config in octocat/hello-world",
        "Which files in django/django mention select_related?",
        "Search octo-org/octo-repo for the word timeout",
        "Where is HOME read in octocat/hello-world?",
        "Which place in the source of octo-org/octo-repo raises NotFoundError?",
        "Grep django/django for a word",
        'In which files of octocat/hello-world does the name "parse" occur?',
        "Find the string hello in octocat/hello-world",
    ),
)
