"""Gives the conversations of one owner to another: in the files of an agent's folder, or in its schema.

Whoever owns a conversation is part of the key of all that is stored of it, so each of these keys is replaced. The tasks are
last: where the process is killed before, the conversations are still the old owner's, and the next run moves the rest.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from utils.persistence.database import connect, unopened

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import Connection, PostgresPool


class _Table(NamedTuple):
    """A table with keys of conversations: its file and name in SQLite, its name in PostgreSQL, the column of the key."""

    file: str
    name: str
    shared: str
    column: str


_BY_THREAD = (
    _Table("checkpoints.sqlite", "checkpoints", "checkpoints", "thread_id"),
    _Table("checkpoints.sqlite", "writes", "checkpoint_writes", "thread_id"),
    _Table("", "", "checkpoint_blobs", "thread_id"),
    _Table("artifacts.sqlite", "artifacts", "artifacts", "scope"),
    _Table("contexts.sqlite", "remote_contexts", "remote_contexts", "thread_id"),
    _Table("contexts.sqlite", "cleared_threads", "cleared_threads", "thread_id"),
    _Table("errands.sqlite", "errands", "delegations", "thread_id"),
    _Table("changes.sqlite", "changes", "changes", "thread_id"),
    _Table("authorisations.sqlite", "sign_ins", "github_sign_ins", "thread_id"),
)
_BY_CONTEXT = (_Table("titles.sqlite", "titles", "titles", "context_id"),)
_BY_TASK = (
    _Table("push.sqlite", "push_configs", "push_configs", "task_id"),
    _Table("push.sqlite", "push_sent", "", "task_id"),
    _Table("tasks.sqlite", "task_attempts", "task_attempts", "task_id"),
    _Table("tasks.sqlite", "tasks", "tasks", "id"),
)
_PEOPLE = _Table("contexts.sqlite", "thread_people", "thread_people", "thread_id")


@dataclass(frozen=True, slots=True)
class Heir:
    """Who gets the conversations.

    Attributes:
        before: Key of the owner who has them.
        after: Key of the owner who gets them.
        person: Key of the person who gets them.
        tenant: The person's tenant.
        thread_of: Key of a conversation's checkpoints, by owner and context id.
    """

    before: str
    after: str
    person: str
    tenant: str
    thread_of: Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is moved.

    Attributes:
        tasks: The tasks of each conversation, by context id.
        left: Conversations that stay: a turn of them has not ended, or the new owner has one of the same id.
    """

    tasks: dict[str, list[str]]
    left: Sequence[str]


def planned(owned: Sequence[tuple[str, str]], taken: set[str], busy: set[str]) -> Plan:
    """Which conversations are moved. Pure.

    Args:
        owned: Task and context ids of the old owner.
        taken: Context ids of the new owner.
        busy: Ids of tasks with a turn that has not ended.
    """
    stay = {context for task, context in owned if context in taken or task in busy}
    tasks: dict[str, list[str]] = {}
    for task, context in owned:
        if context not in stay:
            tasks.setdefault(context, []).append(task)
    return Plan(tasks, sorted(stay))


_Statement = tuple[_Table, str, tuple[str, ...]]


def statements(plan: Plan, heir: Heir) -> list[_Statement]:
    """What is run, in order, with `?` for values and `{table}` for the name of the table. Pure."""
    found: list[_Statement] = []
    for context, tasks in plan.tasks.items():
        before, after = (heir.thread_of(owner, context) for owner in (heir.before, heir.after))
        for table in _BY_THREAD:
            move = f"UPDATE {{table}} SET {table.column} = ? WHERE {table.column} = ?"  # noqa: S608 - our own names
            found.append((table, move, (after, before)))
        person = "UPDATE {table} SET thread_id = ?, person = ?, tenant = ? WHERE thread_id = ?"
        found.append((_PEOPLE, person, (after, heir.person, heir.tenant, before)))
        own = "UPDATE {{table}} SET owner = ? WHERE owner = ? AND {} = ?"
        found += [(one, own.format(one.column), (heir.after, heir.before, context)) for one in _BY_CONTEXT]
        found += [
            (one, own.format(one.column), (heir.after, heir.before, task))
            for one in _BY_TASK
            for task in tasks
        ]
    order = list(dict.fromkeys(table.file for table in (*_BY_THREAD, _PEOPLE, *_BY_CONTEXT, *_BY_TASK)))
    return sorted(found, key=lambda each: order.index(each[0].file))


_OWNED = "SELECT id, context_id FROM tasks WHERE owner = {}"
_TAKEN = "SELECT DISTINCT context_id FROM tasks WHERE owner = {}"
_BUSY = "SELECT task_id FROM runs WHERE owner = {}"


def adopt_in_files(home: Path, heir: Heir, *, dry: bool) -> Plan:
    """Move the conversations in the files of a folder that no other process uses; with `dry` only say which.

    Raises:
        StorageError: A file cannot be read or written.
    """
    owned = _rows(home / "tasks.sqlite", "tasks", _OWNED, heir.before)
    taken = _rows(home / "tasks.sqlite", "tasks", _TAKEN, heir.after)
    busy = _rows(home / "runs.sqlite", "runs", _BUSY, heir.before)
    plan = planned(owned, {row[0] for row in taken}, {row[0] for row in busy})
    by_file: dict[str, list[_Statement]] = {}
    for each in [] if dry else statements(plan, heir):
        by_file.setdefault(each[0].file, []).append(each)
    for name, its in by_file.items():
        if name and (home / name).exists():
            _run(home / name, its)
    return plan


def _rows(file: Path, table: str, query: str, value: str) -> list[Any]:
    if not file.exists():
        return []
    with closing(connect(file)) as db:
        return db.execute(query.format("?"), (value,)).fetchall() if table in _tables(db) else []


def _run(file: Path, its: Sequence[_Statement]) -> None:
    try:
        with closing(connect(file)) as db, db:
            there = _tables(db)
            db.execute("BEGIN IMMEDIATE")
            for table, statement, values in its:
                if table.name in there:
                    db.execute(statement.format(table=table.name), values)
    except sqlite3.Error as error:
        raise unopened(file, error) from error


def _tables(db: sqlite3.Connection) -> set[str]:
    return {str(name) for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


async def adopt_in_database(pool: PostgresPool, heir: Heir, *, dry: bool) -> Plan:
    """Move the conversations in an agent's schema, all or none; with `dry` only say which.

    Raises:
        StorageError: The database failed.
    """

    async def work(db: Connection) -> Plan:
        async def rows(query: str, value: str) -> list[Any]:
            return await (await db.execute(query.format("%s").encode(), (value,))).fetchall()

        taken, busy = await rows(_TAKEN, heir.after), await rows(_BUSY, heir.before)
        owned = await rows(_OWNED, heir.before)
        plan = planned(owned, {row[0] for row in taken}, {row[0] for row in busy})
        for table, statement, values in [] if dry else statements(plan, heir):
            if table.shared:
                text = statement.format(table=table.shared).replace("?", "%s")
                await db.execute(text.encode(), values)
        return plan

    return await pool.run(work)
