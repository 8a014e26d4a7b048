"""Pagination of ListTasks: from a request to a query, from a row to a page token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from a2a.types.a2a_pb2 import ListTasksRequest, Task
from a2a.utils.constants import DEFAULT_LIST_TASKS_PAGE_SIZE
from a2a.utils.errors import InvalidParamsError
from a2a.utils.task import ListTasksCursor, decode_list_tasks_cursor, encode_list_tasks_cursor

from utils.persistence.task_log_store import Query, Row

PAGE_BYTES = 4_000_000
"""Bytes of the tasks of one page, serialised: one of several tasks fits into the 4 MiB that gRPC takes as one message by
default. A task that is larger has a page of its own."""

_MAX_NANOSECONDS = 2**63 - 1
"""The latest time that a store holds, in the year 2262; the earliest is the beginning of 1970."""


def page_request(params: ListTasksRequest, owner: str) -> Query:
    """The query of a request, for one row more than the page, which shows whether another page follows.

    Raises:
        InvalidParamsError: The page token is invalid.
    """
    after = None
    if params.page_token:
        cursor = decode_list_tasks_cursor(params.page_token)
        if cursor is None or not 0 <= (cursor.timestamp_ns or 0) <= _MAX_NANOSECONDS:
            raise InvalidParamsError("The page token is not valid.")
        after = (cursor.timestamp_ns or 0, cursor.task_id)
    since = None
    if params.HasField("status_timestamp_after"):
        asked = params.status_timestamp_after  # over gRPC of any year: `ToNanoseconds` raises beyond 9999
        since = max(0, min(asked.seconds * 1_000_000_000 + asked.nanos, _MAX_NANOSECONDS))
    return Query(
        owner=owner,
        context_id=params.context_id,
        state=params.status,
        updated_from=since,
        after=after,
        limit=(params.page_size or DEFAULT_LIST_TASKS_PAGE_SIZE) + 1,
    )


async def fill_page(
    rows: Sequence[Row], most: int, shown: Callable[[Row], Awaitable[Task | None]]
) -> tuple[list[Task], str]:
    """The tasks of a page, read one after the other until it is full, and the token of the next page.

    Args:
        rows: The rows of the page, and one more where another page follows.
        most: Tasks on a page that `PAGE_BYTES` does not end before.
        shown: Returns the task of a row as the client gets it; `None` if it was deleted meanwhile.
    """
    tasks: list[Task] = []
    size = 0
    for place, row in enumerate(rows[:most]):
        task = await shown(row)
        if task is None:
            continue
        size += task.ByteSize()
        if tasks and size > PAGE_BYTES:
            return tasks, _page_token(rows[place - 1])
        tasks.append(task)
    return tasks, _page_token(rows[most - 1]) if len(rows) > most else ""


def _page_token(last: Row) -> str:
    """The token of the page after `last`."""
    return encode_list_tasks_cursor(ListTasksCursor(timestamp_ns=last.updated, task_id=last.id))
