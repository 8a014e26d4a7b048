"""Answers requests of a caller to list, rename, export or delete its conversations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import structlog
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import ListTasksRequest, Message, Part, Role, Task, TaskState
from a2a.utils.errors import (
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from a2a.utils.task import ListTasksCursor, decode_list_tasks_cursor, encode_list_tasks_cursor
from google.protobuf.json_format import MessageToDict

from utils.a2a_common.engine.turn_engine import TurnEngine
from utils.a2a_common.protocol.conversations import (
    CONVERSATIONS_EXTENSION,
    Action,
    ConversationsRequest,
    Kept,
    Reason,
    answer_part,
    kept_payload,
    parse_conversations_request,
)
from utils.a2a_common.protocol.extension_data import MalformedRequest
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.protocol.parts import data_part, objects_under
from utils.a2a_common.server.deletion import Deletion
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.states import TERMINAL
from utils.errors import ConversationBusy
from utils.persistence.runs import conversation_key
from utils.persistence.task_log_store import NEWEST, ContextRow, IdleContext, Query, Row
from utils.persistence.titles import Titles

log = structlog.get_logger(__name__)

NO_SUCH = "There is no such conversation."
NOT_BELOW = (
    "Nothing was deleted here, since the conversation could not be deleted at {agents}. Try again when they can be reached, "
    "or delete it here only."
)

HOLD_SECONDS = 5.0
"""Longest wait for the end of a turn, which comes after the last event of its task."""

LOOK_SECONDS = 0.05

EXPORTED = 20
"""Tasks of one page of an export."""

LONGEST_REQUEST = 200
_ROWS = 500


class Conversations:
    """Answers from stored data: no model request, no new task.

    Args:
        tasks: The task log.
        engine: Cancels what still runs.
        deletion: Deletes conversations.
        titles: Their titles.
    """

    def __init__(self, tasks: TaskLog, engine: TurnEngine, deletion: Deletion, titles: Titles) -> None:
        self._tasks = tasks
        self._engine = engine
        self._deletion = deletion
        self._titles = titles

    async def answer(self, message: Message, call: ServerCallContext) -> Message | None:
        """The answer to a request about conversations; `None` for any other message.

        Raises:
            InvalidParamsError: The request cannot be understood.
            TaskNotFoundError: The caller has no such conversation.
            UnsupportedOperationError: It cannot be deleted now.
            StorageError: The storage failed.
        """
        try:
            asked = parse_conversations_request(objects_under(CONVERSATIONS_EXTENSION, message))
        except MalformedRequest as error:
            raise InvalidParamsError(str(error)) from None
        if asked is None:
            return None
        owner = owner_of(call)
        match asked.action:
            case Action.LIST:
                return _message(*await self._list(owner, asked))
            case Action.RENAME:
                return _message(*await self._rename(owner, asked))
            case Action.EXPORT:
                return _message(*await self._export(owner, asked))
            case Action.DELETE:
                return _message(*await self._delete(owner, asked, call))

    async def _list(self, owner: str, asked: ConversationsRequest) -> tuple[str, dict[str, Any]]:
        found = await self._tasks.store.contexts(owner, _after(asked.page_token), asked.limit + 1)
        shown = found[: asked.limit]
        token = ""
        if len(found) > len(shown):
            cursor = ListTasksCursor(timestamp_ns=shown[-1].updated, task_id=shown[-1].context_id)
            token = encode_list_tasks_cursor(cursor)
        listed = [await self._listed(owner, row) for row in shown]
        payload = {"action": asked.action.value, "conversations": listed, "nextPageToken": token}
        return _counted(len(listed), "conversation"), payload

    async def _listed(self, owner: str, row: ContextRow) -> dict[str, Any]:
        request = ListTasksRequest(context_id=row.context_id, page_size=1)
        page = await self._tasks.page(request, owner)
        newest = page.tasks[0] if page.tasks else Task()
        changed = datetime.fromtimestamp(row.updated // 1_000_000 / 1000, UTC)
        return {
            "contextId": row.context_id,
            "title": await self._titles.get(owner, row.context_id),
            "request": _request_of(newest),
            "updatedAt": changed.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "tasks": row.tasks,
            "state": TaskState.Name(newest.status.state),
        }

    async def _rename(self, owner: str, asked: ConversationsRequest) -> tuple[str, dict[str, Any]]:
        await self._rows(owner, asked.context_id, at_most=1)
        await self._titles.put(owner, asked.context_id, asked.title)
        payload = {"action": asked.action.value, "contextId": asked.context_id, "title": asked.title}
        return ("The conversation was renamed." if asked.title else "The title was taken away."), payload

    async def _export(self, owner: str, asked: ConversationsRequest) -> tuple[str, dict[str, Any]]:
        request = ListTasksRequest(
            context_id=asked.context_id,
            page_size=EXPORTED,
            page_token=asked.page_token,
            include_artifacts=True,
        )
        page = await self._tasks.page(request, owner)
        if not page.total_size:
            raise TaskNotFoundError(NO_SUCH)
        payload = {
            "action": asked.action.value,
            "contextId": asked.context_id,
            "title": await self._titles.get(owner, asked.context_id),
            "tasks": [MessageToDict(task) for task in page.tasks],
            "nextPageToken": page.next_page_token,
        }
        return _counted(len(page.tasks), "task"), payload

    async def _delete(
        self, owner: str, asked: ConversationsRequest, call: ServerCallContext
    ) -> tuple[str, dict[str, Any]]:
        """Cancel running turns, delete at the agents behind this one, and last here: after an earlier failure nothing is deleted here."""
        for row in await self._rows(owner, asked.context_id):
            if row.state not in TERMINAL:
                with suppress(TaskNotCancelableError, TaskNotFoundError):  # it ended meanwhile
                    await self._engine.cancel(row.id, owner, call)
        async with self._turns_held(conversation_key(owner, asked.context_id)):
            rows = await self._rows(owner, asked.context_id)
            ids = tuple(sorted(row.id for row in rows))
            context = IdleContext(owner, asked.context_id, ids, max(row.updated for row in rows))
            kept = await self._deletion.below(context)
            missed = [each.agent for each in kept if each.reason is Reason.UNREACHABLE]
            if missed and not asked.here_only:
                raise UnsupportedOperationError(NOT_BELOW.format(agents=", ".join(missed)))
            await self._deletion.delete(context)
        await self._deletion.wipe()
        log.info("conversation.deleted", tasks=len(ids), kept_at=len(kept))
        payload = {
            "action": asked.action.value,
            "contextId": asked.context_id,
            "deleted": True,
            "tasks": len(ids),
            "kept": kept_payload(kept),
        }
        return _deleted(kept), payload

    @asynccontextmanager
    async def _turns_held(self, conversation: str) -> AsyncIterator[None]:
        """Let no turn of a conversation begin; one that has just ended is waited for.

        Raises:
            ConversationBusy: Another one has begun.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + HOLD_SECONDS
        while True:
            async with self._engine.hold_turns(conversation) as held:
                if held:
                    yield
                    return
            if loop.time() > until:
                raise ConversationBusy(HOLD_SECONDS)
            await asyncio.sleep(LOOK_SECONDS)

    async def _rows(self, owner: str, context_id: str, at_most: int = _ROWS) -> Sequence[Row]:
        """The tasks of a conversation.

        Raises:
            TaskNotFoundError: The owner has none in it.
        """
        found: list[Row] = []
        after = None
        while True:
            query = Query(owner, context_id=context_id, after=after, limit=at_most)
            rows, _ = await self._tasks.store.page(query)
            found += rows
            if len(rows) < at_most or at_most < _ROWS:
                break
            after = (rows[-1].updated, rows[-1].id)
        if not found:
            raise TaskNotFoundError(NO_SUCH)
        return found


def _after(token: str) -> tuple[int, str]:
    if not token:
        return NEWEST
    cursor = decode_list_tasks_cursor(token)
    if cursor is None or not 0 <= (cursor.timestamp_ns or 0) <= NEWEST[0] or "\x00" in cursor.task_id:
        raise InvalidParamsError("The page token is not valid.")
    return cursor.timestamp_ns or 0, cursor.task_id


def _request_of(task: Task) -> str:
    """The beginning of the last message."""
    requests = [message for message in task.history if message.role == Role.ROLE_USER]
    text = " ".join(" ".join(part.text for part in requests[-1].parts).split()) if requests else ""
    return text if len(text) <= LONGEST_REQUEST else f"{text[: LONGEST_REQUEST - 1]}…"


def _counted(number: int, noun: str) -> str:
    return f"1 {noun}." if number == 1 else f"{number} {noun}s."


def _deleted(kept: Sequence[Kept]) -> str:
    if not kept:
        return "The conversation was deleted."
    names = ", ".join(dict.fromkeys(each.agent for each in kept))
    return f"The conversation was deleted here. What was told to these agents is still there: {names}."


def _message(sentence: str, payload: Mapping[str, Any]) -> Message:
    return Message(
        message_id=str(uuid4()),
        role=Role.ROLE_AGENT,
        parts=[Part(text=sentence), data_part(answer_part(payload))],
    )
