"""Branches of a repository."""

from __future__ import annotations

from agents.github.client import GitHubClient, Row
from agents.github.tools.arguments import Paged, RepositoryArguments
from agents.github.tools.listing import list_of_repository
from agents.github.tools.project import field, text
from agents.github.tools.spec import ToolSpec
from utils.messages.results import Items


class ListBranches(RepositoryArguments, Paged):
    """Which branches to list."""


async def list_branches(github: GitHubClient, args: ListBranches) -> Items:
    """List one page, in the order of their names."""
    return await list_of_repository(github, args, "branches", "branches", row=_row)


def _row(raw: Row) -> Row:
    return {
        "name": text(raw.get("name")),
        "sha": str(field(raw, "commit", "sha") or "")[:12],
        "protected": raw.get("protected"),
    }


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
