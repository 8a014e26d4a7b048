"""Erases all data that an agent stores of one person: in the files of its folder, or in its schema.

It works on the tables directly, so that no data remains because a setting is off, a key is lost or a server is down. Tasks are
deleted last: if the process is killed before, the next run finds the conversations again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from utils.persistence.database import connect
from utils.persistence.database_failures import unopened
from utils.persistence.files import StoreFile
from utils.persistence.owned_tables import (
    BUSY,
    BY_CONTEXT,
    BY_TASK,
    BY_THREAD,
    PEOPLE,
    REMOTE,
    TASKS,
    RemoteKey,
    Table,
    TaskKey,
    rows_in,
    tables_in,
)
from utils.persistence.postgres.turn_hold import held_tasks, hold_all_turns
from utils.persistence.task_log_schema import check_not_newer

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import Connection, PostgresPool

SOURCES = Table(StoreFile.MEMORIES, "memory_sources", "memory_sources", "thread_id")
BY_TASK_ALONE = (
    Table(StoreFile.TOOL_CALLS, "tool_calls", "tool_calls", "task_id"),
    Table(StoreFile.RUNS, "runs", "runs", "task_id"),
    Table(StoreFile.TASKS, "task_events", "task_events", "task_id"),
)
"""Tables whose rows name a task and no owner."""


class Personal(NamedTuple):
    """Rows of a person beside those of conversations.

    Attributes:
        what: What they are called, such as memories.
        table: Where they are; its column holds `key`.
        key: The person, as they are stored under.
    """

    what: str
    table: Table
    key: str


@dataclass(frozen=True, slots=True)
class DataSubject:
    """Whose data is erased.

    Attributes:
        owners: Keys of the owner of their conversations: who calls the agent, and for whom the supervisor calls it.
        thread_of: Key of a conversation's checkpoints, by owner and context id.
        personal: What is kept of them beside conversations.
    """

    owners: Sequence[str]
    thread_of: Callable[[str, str], str]
    personal: Sequence[Personal] = ()


@dataclass(frozen=True, slots=True)
class Erased:
    """The data that an erasure deletes.

    Attributes:
        conversations: The tasks of each conversation, by owner and context id.
        left: Context ids of conversations that stay, since a turn of them is under way.
        elsewhere: Names of the agents that received parts of these conversations.
        others: Owners of the other conversations.
        counts: How many rows there were of each kind of personal data.
    """

    conversations: Mapping[tuple[str, str], Sequence[str]]
    left: Sequence[str]
    elsewhere: Sequence[str]
    others: frozenset[str]
    counts: dict[str, int] = field(default_factory=dict)


def planned(
    person: DataSubject, tasks: Iterable[TaskKey], busy: set[str], remote: Iterable[RemoteKey] = ()
) -> Erased:
    """Which conversations are erased. Pure.

    Args:
        person: Whose they are.
        tasks: All tasks: id, context id and owner.
        busy: Ids of tasks with a turn that is under way: their conversations stay.
        remote: Conversations at other agents: thread, agent and context id there.
    """
    found: dict[tuple[str, str], list[str]] = {}
    others: set[str] = set()
    for task, context, owner in tasks:
        if owner in person.owners:
            found.setdefault((owner, context), []).append(task)
        else:
            others.add(owner)
    left = [key for key, its in found.items() if busy.intersection(its)]
    gone = {key: its for key, its in found.items() if key not in left}
    threads = {person.thread_of(*key) for key in gone}
    elsewhere = {agent.partition("/")[0] for thread, agent, _ in remote if thread in threads}
    return Erased(gone, sorted(context for _, context in left), sorted(elsewhere), frozenset(others))


def together(parts: Iterable[Erased]) -> Erased:
    """The sum of the erasures in several stores of one agent. Pure."""
    conversations: dict[tuple[str, str], list[str]] = {}
    counts: dict[str, int] = {}
    left: set[str] = set()
    elsewhere: set[str] = set()
    others: frozenset[str] = frozenset()
    for each in parts:
        for key, tasks in each.conversations.items():
            conversations.setdefault(key, []).extend(tasks)
        for what, count in each.counts.items():
            counts[what] = counts.get(what, 0) + count
        left, elsewhere, others = left | {*each.left}, elsewhere | {*each.elsewhere}, others | each.others
    return Erased(conversations, sorted(left), sorted(elsewhere), others, counts)


class Removal(NamedTuple):
    """Rows of a table that are deleted: the columns that they are found by, with their values."""

    table: Table
    where: Mapping[str, str]

    def statement(self, name: str, mark: str, verb: str = "DELETE") -> str:
        """The deletion in the table `name`, or with another verb what it would delete, with `mark` for each value."""
        condition = " AND ".join(f"{column} = {mark}" for column in self.where)
        return f"{verb} FROM {name} WHERE {condition}"

    @property
    def values(self) -> tuple[str, ...]:
        """The values of the placeholders."""
        return tuple(self.where.values())


def removals(plan: Erased, person: DataSubject) -> list[Removal]:
    """The deletions, in order. Pure."""
    found = [Removal(each.table, {each.table.column: each.key}) for each in person.personal]
    for (owner, context), tasks in plan.conversations.items():
        thread = person.thread_of(owner, context)
        found += [Removal(table, {table.column: thread}) for table in (*BY_THREAD, PEOPLE, SOURCES)]
        found += [Removal(table, {"owner": owner, table.column: context}) for table in BY_CONTEXT]
        for task in tasks:
            found += [Removal(table, {table.column: task}) for table in BY_TASK_ALONE]
            found += [Removal(table, {"owner": owner, table.column: task}) for table in BY_TASK]
    last = BY_TASK[-1].file
    return sorted(found, key=lambda each: each.table.file == last)


def files_of(person: DataSubject) -> set[str]:
    """Names of the files that may hold something of a person. Pure."""
    tables = (*BY_THREAD, PEOPLE, SOURCES, *BY_CONTEXT, *BY_TASK, *BY_TASK_ALONE)
    return {each.file for each in (*tables, *(one.table for one in person.personal)) if each.file}


def erase_in_files(home: Path, person: DataSubject, *, dry: bool) -> Erased:
    """Erase it in the files of a folder that no other process uses, including waiting turns; with `dry` only report.

    Raises:
        StorageError: A file cannot be read or written, or a later version wrote it, which may keep more than is known here.
    """
    for (version,) in rows_in(home / StoreFile.TASKS, "tasks", "PRAGMA user_version"):
        check_not_newer(version)
    tasks = rows_in(home / StoreFile.TASKS, "tasks", TASKS)
    remote = rows_in(home / StoreFile.CONTEXTS, "remote_contexts", REMOTE)
    plan = planned(person, tasks, set(), remote)
    for each in person.personal:
        plan.counts[each.what] = plan.counts.get(each.what, 0) + _counted(home / each.table.file, each)
    by_file: dict[str, list[Removal]] = {}
    for removal in [] if dry else removals(plan, person):
        by_file.setdefault(removal.table.file, []).append(removal)
    for name, its in by_file.items():
        if name and (home / name).exists():
            _run(home / name, its)
    return plan


def _counted(file: Path, each: Personal) -> int:
    if not file.exists():
        return 0
    removal = Removal(each.table, {each.table.column: each.key})
    with closing(connect(file)) as db:
        if each.table.name not in tables_in(db):
            return 0
        counting = removal.statement(each.table.name, "?", "SELECT count(*)")
        return int(db.execute(counting, removal.values).fetchone()[0])


def _run(file: Path, its: Sequence[Removal]) -> None:
    try:
        with closing(connect(file)) as db, db:
            there = tables_in(db)
            db.execute("BEGIN IMMEDIATE")
            for each in its:
                if each.table.name in there:
                    db.execute(each.statement(each.table.name, "?"), each.values)
    except sqlite3.Error as error:
        raise unopened(file, error) from error


async def erase_in_database(pool: PostgresPool, person: DataSubject, *, dry: bool) -> Erased:
    """Erase it in an agent's schema atomically, without conversations that have a running turn or are being deleted; with `dry` only report.

    Raises:
        StorageError: The database failed.
    """

    async def work(db: Connection) -> Erased:
        async def rows(query: str, values: Sequence[str] = ()) -> list[Any]:
            return await (await db.execute(query.encode(), values)).fetchall()

        there = {row[0] for row in await rows(_THERE, (pool.schema,))}
        await hold_all_turns(db)
        tasks = await rows(TASKS)
        busy = {row[0] for row in await rows(BUSY)} | await held_tasks(db, pool.schema, tasks)
        plan = planned(person, tasks, busy, await rows(REMOTE))
        for each in person.personal:
            if each.table.shared in there:
                one = Removal(each.table, {each.table.column: each.key})
                counting = one.statement(each.table.shared, "%s", "SELECT count(*)")
                found = int((await rows(counting, one.values))[0][0])
                plan.counts[each.what] = plan.counts.get(each.what, 0) + found
        for removal in [] if dry else removals(plan, person):
            if removal.table.shared in there:
                await db.execute(removal.statement(removal.table.shared, "%s").encode(), removal.values)
        return plan

    return await pool.run(work)


_THERE = "SELECT tablename FROM pg_tables WHERE schemaname = %s"
