"""Reads lists in pages of the caller's size, with a limited number of requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agents.github.client import GitHubClient, Page, Params, Row

PAGE_SIZE = 100
"""Rows per request at most: GitHub's own maximum."""
MAX_REQUESTS = 10
"""Largest number of requests for a filtered listing: 1,000 rows."""
SPARE_REQUESTS = 1
"""Requests in addition to those for full pages: GitHub may omit rows of a page."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of rows. `total` is exact if set; `more` means that rows follow."""

    rows: list[Row]
    page: int
    total: int | None
    more: bool


async def read_list(
    github: GitHubClient,
    path: str,
    what: str,
    params: Params,
    *,
    limit: int,
    page: int = 1,
    key: str | None = None,
    keep: Callable[[Row], bool] | None = None,
) -> Listing:
    """Page number `page` of a list, in pages of `limit` rows (the setting's maximum at most).

    Args:
        github: The client.
        path: Path of the list.
        what: Names the list in errors.
        params: Query parameters.
        limit: Rows per page.
        page: Page, from 1.
        key: If the response is an object, the key of its rows.
        keep: Filter of rows; all rows when omitted.

    Raises:
        UpstreamUnavailable: GitHub cannot be reached or fails.
        UpstreamRefused: GitHub refused the request.
    """
    limit = max(1, min(limit, github.settings.max_items))
    offset = (page - 1) * limit
    size = PAGE_SIZE if keep else min(limit, PAGE_SIZE)
    first = 1 if keep else offset // size + 1
    skipped = (first - 1) * size
    end = offset - skipped + limit
    requests = MAX_REQUESTS if keep else -(-end // size) + SPARE_REQUESTS
    rows: list[Row] = []
    for number in range(first, first + requests):
        got = await github.get_page(path, what, {**params, "per_page": size, "page": number}, key=key)
        rows += [row for row in got.rows if keep is None or keep(row)]
        if len(rows) >= end or not got.has_next:
            break
    more = got.has_next or len(rows) > end
    total = got.total if keep is None else None
    if total is None and not got.has_next and (rows or first == 1):
        total = skipped + len(rows)
    if total is None and more and keep is None:
        total = _count(await github.get_page(path, what, {**params, "per_page": 1, "page": 1}, key=key))
    return Listing(rows[offset - skipped : end], page, total, more)


def _count(page_of_one: Page) -> int | None:
    """Number of rows of a list that was read in pages of one row: the number of its last page."""
    return page_of_one.last
