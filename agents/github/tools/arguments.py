"""Arguments that several tools take."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Literal

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
    "dated",
    "sort",
    "direction",
    "limit",
    "page",
    "include_diff",
    "include_links",
    "first_line",
}
_DATES = {"opened": "created", "closed": "closed", "merged": "merged"}
SHARED_ARGUMENTS = frozenset(_WHERE | _WHICH)
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


def _github_end(value: str) -> str:
    """The same for the end of a period: a date without a time is meant with its whole day."""
    try:
        date.fromisoformat(value)
    except ValueError:
        return _github_time(value)
    return _github_time(f"{value}T23:59:59")


Owner = Annotated[str, Field(description="User or organisation, for example octocat."), AfterValidator(_name)]
Repo = Annotated[
    str,
    Field(description="Name of the repository without its owner, for example hello-world."),
    AfterValidator(_name),
    BeforeValidator(_bare_repo),
]
Moment = Annotated[str, AfterValidator(_github_time), Field(json_schema_extra={"format": "date-time"})]
End = Annotated[str, AfterValidator(_github_end), Field(json_schema_extra={"format": "date-time"})]
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


class Within(BaseModel):
    """A period that what is listed is from; either end may be open."""

    since: Moment | None = Field(None, description="From then on.")
    until: End | None = Field(None, description="Up to then; of a date its whole day.")

    def has(self, moment: object) -> bool:
        """Whether a time of GitHub's lies within; what has no such time lies in no period that is bounded."""
        if self.since is None and self.until is None:
            return True
        if not isinstance(moment, str) or not moment:
            return False
        return (self.since or moment) <= moment <= (self.until or moment)


class Changing(Within):
    """The period of what is opened, changed and closed."""

    dated: Literal["opened", "changed"] | None = Field(
        None,
        description="What since and until mean; when omitted the end of closed and merged ones, else the last change.",
    )

    def moment(self, row: Mapping[str, object], state: str) -> object:
        """The time of a row that `since` and `until` mean."""
        return row.get(f"{self.date(state)}_at")

    def date(self, state: str) -> str:
        """Its name: created, closed, merged or updated."""
        return _DATES.get(self.dated or state, "updated")


class Paged(BaseModel):
    """A page of a list."""

    limit: LimitArgument = 30
    page: PageArgument = 1
