"""Arguments that several tools take."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

_NAME = re.compile(r"[A-Za-z0-9._-]+")


_WHERE = {"owner", "repo", "ref", "branch", "base", "number", "run_id", "job_id"}
_WHICH = {
    "state",
    "author",
    "assignee",
    "labels",
    "since",
    "until",
    "sort",
    "direction",
    "limit",
    "page",
    "include_diff",
    "include_links",
    "first_line",
}
TOLD = frozenset(_WHERE | _WHICH)
"""Arguments that mean the same in every tool: `prompts/system.md` explains them."""


def _name(value: str) -> str:
    if not _NAME.fullmatch(value) or set(value) == {"."}:
        raise ValueError("only letters, digits, dots, hyphens and underscores")
    return value


def _bare_repo(value: object) -> object:
    """Reduce `owner/repo` and `repo.git` to `repo`."""
    if not isinstance(value, str):
        return value
    return value.strip().rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")


def _github_time(value: str) -> str:
    """Convert any ISO date or time to the form that GitHub accepts; UTC if it has no zone."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise ValueError("a date (YYYY-MM-DD) or an ISO time") from error
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


Owner = Annotated[str, Field(description="User or organisation, for example octocat."), AfterValidator(_name)]
Repo = Annotated[
    str,
    Field(description="Name of the repository without its owner, for example hello-world."),
    AfterValidator(_name),
    BeforeValidator(_bare_repo),
]
Moment = Annotated[str, AfterValidator(_github_time), Field(json_schema_extra={"format": "date-time"})]
LimitArgument = Annotated[int, Field(ge=1, le=1000, description="Rows at most.")]
PageArgument = Annotated[int, Field(ge=1, description="Page of the list, from 1.")]


class RepositoryArguments(BaseModel):
    """A repository."""

    owner: Owner
    repo: Repo

    @property
    def full_name(self) -> str:
        """`owner/repo`."""
        return f"{self.owner}/{self.repo}"


class Linked(BaseModel):
    """Rows whose addresses are left out unless they are asked for: a hundred of them take two thousand tokens."""

    include_links: bool = Field(False, description="Include the address of each row.")


class Paged(BaseModel):
    """A page of a list."""

    limit: LimitArgument = 30
    page: PageArgument = 1
