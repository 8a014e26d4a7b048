"""`Recovery`: the unfinished turns of an earlier process. Finds those to resume, and ends the tasks of the others."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import structlog
from a2a.utils.errors import UnsupportedOperationError

from utils.a2a_common.engine.job import is_over
from utils.a2a_common.engine.turn_runner import TurnRunner
from utils.a2a_common.engine.unfinished_turns import interrupt
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.states import TERMINAL
from utils.a2a_common.tasks.turn import Turn, decode_turn
from utils.encryption.errors import StorageUnreadable
from utils.errors import OutcomeUnknown, PlatformError
from utils.persistence.runs import QUESTION, RESTORED, RunRow, RunStore
from utils.timing import backoff

log = structlog.get_logger(__name__)

UNREADABLE = (UnsupportedOperationError, StorageUnreadable)
"""Errors of a task that is damaged, or that no key decrypts: it cannot be ended, and is listed as failed."""

MAX_ATTEMPTS = 2
"""Times that a turn is taken over from a process that died: the turn may be what crashes them."""

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0
"""Seconds before a task is looked at again that another replica has taken over to end it."""

RESTORED_SENTENCE = (
    "The agent's data was restored from a backup that was made while this was under way. What it did after the backup is not known. "
    "Look whether something was changed before you send the request again."
)


class Recovery:
    """Sorts the unfinished turns of an earlier process.

    Args:
        tasks: The task log.
        runs: The turns that it had accepted.
        runner: Says whether turns can be resumed.
        abandon: Begins to cancel the sub-tasks of a task that has ended.
    """

    def __init__(
        self, tasks: TaskLog, runs: RunStore, runner: TurnRunner, abandon: Callable[[str], object]
    ) -> None:
        self._tasks = tasks
        self._runs = runs
        self._runner = runner
        self._abandon = abandon

    async def turns(self) -> list[tuple[RunRow, Turn]]:
        """The turns to resume, oldest first. Every other unfinished task has failed when this returns.

        Raises:
            StorageError: The stored turns cannot be read.
        """
        rows = await self._runs.rows()
        found = [(row, turn) for row in rows if (turn := await self.turn_of(row)) is not None]
        known = {row.task_id for row in rows}
        for task_id, owner in await self._tasks.unfinished():
            if task_id not in known:
                with contextlib.suppress(*UNREADABLE):
                    await self.fail(task_id, owner, None)
        return found

    async def end_restored(self) -> None:
        """End what was under way when a restored backup was made, before an answer to one of its questions can be accepted.

        Raises:
            StorageError: The storage failed.
        """
        for row in await self._runs.rows():
            if row.attempts == RESTORED:
                await self._end_surely(row)

    async def _end_surely(self, row: RunRow) -> None:
        """End a task also where another replica that is to end it as well takes it over, and stands still or dies before it does.

        The row stays until then: a replica that starts meanwhile finds the task by it.
        """
        with contextlib.suppress(*UNREADABLE):
            await self._goes_on(row)
            tries = 0
            while await self._is_open(row):
                tries += 1
                await asyncio.sleep(backoff(tries, first=FIRST_PAUSE, longest=LONGEST_PAUSE))
                await self._goes_on(row)
        await self._runs.remove(row.task_id, writer=row.writer)

    async def _is_open(self, row: RunRow) -> bool:
        head = await self._tasks.head(row.task_id, row.owner)
        return head is not None and head.status.state not in TERMINAL

    async def turn_of(self, row: RunRow) -> Turn | None:
        """The turn of a row; `None` if it is over, or if it cannot be resumed: then its task is ended and the row removed."""
        try:
            turn = await self._goes_on(row)
        except UNREADABLE:
            turn = None
        if turn is None:
            await self._runs.remove(row.task_id, writer=row.writer)
        return turn

    async def _goes_on(self, row: RunRow) -> Turn | None:
        turn = decode_row(row) if row.body != QUESTION else None
        head = await self._tasks.head(row.task_id, row.owner)
        ended = head is not None and head.status.state in TERMINAL
        restored = row.attempts == RESTORED
        over = ended if turn is None or restored else is_over(turn, head)
        if turn is not None and not over and self._runner.resumable and row.attempts < MAX_ATTEMPTS:
            return turn
        if not over:
            reason = OutcomeUnknown(RESTORED_SENTENCE) if restored else None
            await self.fail(row.task_id, row.owner, turn, reason)
        return None

    async def fail(
        self, task_id: str, owner: str, turn: Turn | None, reason: PlatformError | None = None
    ) -> None:
        """End a task whose turn is not resumed; `turn` if it is known, and `reason` if it is not a restart."""
        writer = await self._tasks.claim(task_id, owner)
        try:
            await interrupt(writer, task_id, turn, reason)
        finally:
            writer.release()
        self._abandon(task_id)


def decode_row(row: RunRow) -> Turn | None:
    """The turn of a row; `None` if it cannot be read."""
    try:
        return decode_turn(row.body)
    except ValueError:
        log.warning("run.unreadable", task_id=row.task_id)
        return None
