"""How any A2A agent lists its tasks."""

from __future__ import annotations

from typing import Any

from a2a.types.a2a_pb2 import ListTasksRequest
from a2a.utils.errors import MethodNotFoundError, UnsupportedOperationError

from utils.testing.contract.session import Broken, Session, Skipped
from utils.testing.contract.wire_checks import METHOD_NOT_FOUND, UNSUPPORTED, code_of

_MEMBERS = ("nextPageToken", "pageSize", "totalSize")


async def tasks_are_listed(session: Session) -> None:
    """A list holds the caller's task, without artifacts unless asked for."""
    if not session.lists_tasks:
        raise Skipped("protocol 0.3 lists no tasks")
    task = await session.ended_task()
    request = ListTasksRequest(context_id=task.context_id, page_size=10)
    try:
        listed = await session.unary.list_tasks(request, context=session.context)
    except (UnsupportedOperationError, MethodNotFoundError) as error:
        raise Skipped("the agent lists no tasks") from error
    if task.id not in {one.id for one in listed.tasks}:
        raise Broken("the task of this caller is not in the list")
    if any(one.artifacts for one in listed.tasks):
        raise Broken("artifacts were sent although nobody asked for them")


async def list_has_all_members(session: Session) -> None:
    """All members are there: `nextPageToken` is empty on the last page."""
    listed = await _listed(session, {"pageSize": 1})
    if missing := [name for name in _MEMBERS if name not in listed]:
        raise Broken(f"{', '.join(missing)} is missing")


async def list_is_of_one_context(session: Session) -> None:
    """A list of one context holds no task of another."""
    task = await session.ended_task()
    await session.send()  # a task of another context
    listed = await _listed(session, {"contextId": task.context_id})
    others = {one.get("contextId") for one in listed.get("tasks", ())} - {task.context_id}
    if others:
        raise Broken("it holds tasks of another context")


async def list_is_cut_into_pages(session: Session) -> None:
    """A page holds no more tasks than asked for."""
    await session.ended_task()
    await session.send()
    listed = await _listed(session, {"pageSize": 1})
    if len(listed.get("tasks", ())) > 1:
        raise Broken(f"a page of 1 holds {len(listed['tasks'])} tasks")


async def _listed(session: Session, params: dict[str, Any]) -> dict[str, Any]:
    answer = await session.method("ListTasks", params)
    if code_of(answer) in {METHOD_NOT_FOUND, UNSUPPORTED}:
        raise Skipped("the agent lists no tasks")
    result = answer.get("result")
    if not isinstance(result, dict):
        raise Broken(f"the list was refused with {code_of(answer)}")
    return result
