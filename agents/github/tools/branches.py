"""Branches and tags of a repository."""

from __future__ import annotations

import asyncio

from agents.github.client import GitHubClient, Row, path_of
from agents.github.tools.arguments import Paged, RepositoryArguments
from agents.github.tools.listing import list_of_repository
from agents.github.tools.project import field, text
from agents.github.tools.spec import ToolSpec
from utils.messages.results import Items


class ListBranches(RepositoryArguments, Paged):
    """Which branches to list."""


class ListTags(RepositoryArguments, Paged):
    """Which tags to list."""


async def list_branches(github: GitHubClient, args: ListBranches) -> Items:
    """List one page, in the order of their names; which one is the default branch, the repository says."""
    path, what = path_of("repos", args.owner, args.repo), f"repository {args.full_name}"
    listed, repository = await asyncio.gather(
        list_of_repository(github, args, "branches", "branches", row=_row), github.get_row(path, what)
    )
    default = text(repository.get("default_branch"))
    rows = [row | {"default": row["name"] == default} for row in listed.items]
    return listed.model_copy(update={"items": rows})


async def list_tags(github: GitHubClient, args: ListTags) -> Items:
    """List one page, the newest version first as GitHub sorts them."""
    return await list_of_repository(github, args, "tags", "tags", row=_tag)


def _row(raw: Row) -> Row:
    return _tag(raw) | {"protected": raw.get("protected")}


def _tag(raw: Row) -> Row:
    return {"name": text(raw.get("name")), "sha": str(field(raw, "commit", "sha") or "")[:12]}


LIST_BRANCHES = ToolSpec(
    name="list_branches",
    description="List the branches of a repository: last commits, protection.",
    arguments=ListBranches,
    run=list_branches,
    examples=(
        "List the branches of octocat/hello-world",
        "Which branches does octo-org/octo-repo have?",
        "How many branches are there in django/django?",
        "Are any branches of octocat/hello-world protected?",
        "Does octo-org/octo-repo have a branch called develop?",
    ),
)

LIST_TAGS = ToolSpec(
    name="list_tags",
    description="List the tags of a repository with their commits.",
    arguments=ListTags,
    run=list_tags,
    examples=(
        "List the tags of octocat/hello-world",
        "Which tags does octo-org/octo-repo have?",
        "What is the newest tag in django/django?",
        "How many tags are there in octocat/hello-world?",
        "Is there a tag v1.2.0 in octo-org/octo-repo?",
    ),
)
