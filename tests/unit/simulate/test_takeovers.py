"""Ends that could not be stored: who had claimed the task meanwhile decides whether readers were told too early."""

from __future__ import annotations

import pytest

from benchmarks.simulate.takeovers import Takeovers, watched
from tests.unit.tasks.events import FAILED, task
from utils.a2a_common.tasks.stored_form import row_of
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_store import Record, RecordKind, Write, WriteRefused


def write(attempt: int, *, after: int | None, sequence: int = 1) -> Write:
    head = task(state=FAILED) if after is None else task()
    record = Record(sequence, RecordKind.STATUS, b"")
    return Write("t", "ann", attempt, after, (record,), row_of(head, "ann", sequence))


@pytest.mark.parametrize(("claims", "found"), [("p2", {("p1", "t")}), ("p1", set())])
async def test_an_end_that_is_refused_counts_only_where_another_process_claimed_the_task(claims, found):
    store, takeovers = MemoryTaskLogStore(), Takeovers(set())
    first = watched(store, "p1", takeovers)
    await first.append(write((await first.claim("t", "ann")).attempt, after=0))
    old = (await first.claim("t", "ann")).attempt
    await watched(store, claims, takeovers).claim("t", "ann")
    with pytest.raises(WriteRefused):
        await first.append(write(old, after=1, sequence=2))
    assert takeovers.found == set()
    with pytest.raises(WriteRefused):
        await first.append(write(old, after=None, sequence=2))
    assert takeovers.found == found
    assert (await store.look("t", "ann")) == (await first.look("t", "ann"))
