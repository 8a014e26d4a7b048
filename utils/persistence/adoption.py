"""Gives the conversations of one owner to another: in the files of an agent's folder, or in its schema.

The owner of a conversation is part of the key of all its stored data. So each of these keys is replaced, and values
that are encrypted for their place are encrypted for the new one. The tasks come last: if the process is killed before,
the conversations still belong to the old owner, and the next run moves the rest.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utils.persistence.database import connect
from utils.persistence.database_failures import unopened
from utils.persistence.encrypted.columns import COLUMNS, Column
from utils.persistence.encrypted.renew_files import move as move_in_file
from utils.persistence.files import StoreFile
from utils.persistence.owned_tables import (
    BUSY,
    BY_CONTEXT,
    BY_TASK,
    BY_THREAD,
    HELD,
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

if TYPE_CHECKING:
    from utils.encryption.codec import Codec
    from utils.persistence.postgres.pool import Connection, PostgresPool


@dataclass(frozen=True, slots=True)
class Heir:
    """Who gets the conversations.

    Attributes:
        before: Key of the owner who has them.
        after: Key of the owner who gets them.
        person: Key of the person who gets them.
        tenant: The person's tenant.
        thread_of: Key of a conversation's checkpoints, by owner and context id.
        gets: Whether they get a conversation of the owner before, by its context id.
    """

    before: str
    after: str
    person: str
    tenant: str
    thread_of: Callable[[str, str], str]
    gets: Callable[[str], bool] = lambda _: True


Contexts = dict[str, list[str]]
"""Ids of conversations at other agents, by agent."""


@dataclass(frozen=True, slots=True)
class ContextsElsewhere:
    """The parts of an agent's conversations at other agents, which know no tenant of a caller without authentication.

    Attributes:
        theirs: What belongs to conversations of the new owner, with those that are moved.
        others: What belongs to those of anybody else.
    """

    theirs: Contexts
    others: Contexts


@dataclass(frozen=True, slots=True)
class Plan:
    """The data that an adoption moves.

    Attributes:
        tasks: The tasks of each conversation, by context id.
        left: Conversations that stay: a turn of them has not ended, or the new owner has one of the same id.
        elsewhere: What all conversations here have at other agents.
    """

    tasks: dict[str, list[str]]
    left: Sequence[str]
    elsewhere: ContextsElsewhere


def planned(
    heir: Heir,
    tasks: Sequence[TaskKey],
    busy: set[str],
    remote: Sequence[RemoteKey] = (),
    held: Collection[str] = (),
) -> Plan:
    """Which conversations are moved. Pure.

    Args:
        heir: Who gets them.
        tasks: All tasks: id, context id and owner.
        busy: Ids of tasks with a turn that has not ended.
        remote: Conversations at other agents: thread, agent and context id there.
        held: Threads with checkpoints. One of the new owner may have no task any more; another conversation is not mixed
            with it. Where the one before has none, an earlier run has moved them.
    """
    owned = [(task, context) for task, context, owner in tasks if owner == heir.before and heir.gets(context)]
    taken = {context for _, context, owner in tasks if owner == heir.after}
    taken |= {
        context
        for _, context in owned
        if all(heir.thread_of(owner, context) in held for owner in (heir.before, heir.after))
    }
    stay = {context for task, context in owned if context in taken or task in busy}
    moved: dict[str, list[str]] = {}
    for task, context in owned:
        if context not in stay:
            moved.setdefault(context, []).append(task)
    whose = {heir.thread_of(owner, context) for _, context, owner in tasks if owner == heir.after}
    whose |= {heir.thread_of(heir.before, context) for context in moved}
    theirs: Contexts = {}
    others: Contexts = {}
    for thread, agent, context in remote:
        (theirs if thread in whose else others).setdefault(agent.partition("/")[0], []).append(context)
    return Plan(moved, sorted(stay), ContextsElsewhere(theirs, others))


@dataclass(frozen=True, slots=True)
class Move:
    """Rows of a table that get other keys.

    Attributes:
        table: The table.
        where: Columns that the rows are found by, with their values.
        to: Columns that change, with their new values.
    """

    table: Table
    where: dict[str, str]
    to: dict[str, str]

    def statement(self, name: str, mark: str) -> str:
        """The change of the table `name`, with `mark` for each of `values`."""
        setting = ", ".join(f"{column} = {mark}" for column in self.to)
        condition = " AND ".join(f"{column} = {mark}" for column in self.where)
        return f"UPDATE {name} SET {setting} WHERE {condition}"  # noqa: S608 - our own names

    @property
    def values(self) -> tuple[str, ...]:
        """The values of the placeholders."""
        return (*self.to.values(), *self.where.values())


def planned_moves(plan: Plan, heir: Heir) -> list[Move]:
    """The moves, in order. Pure."""
    found: list[Move] = []
    for context, tasks in plan.tasks.items():
        before, after = (heir.thread_of(owner, context) for owner in (heir.before, heir.after))
        found += [Move(table, {table.column: before}, {table.column: after}) for table in BY_THREAD]
        person = {"thread_id": after, "person": heir.person, "tenant": heir.tenant}
        found.append(Move(PEOPLE, {"thread_id": before}, person))
        keys = [
            *((table, context) for table in BY_CONTEXT),
            *((table, task) for table in BY_TASK for task in tasks),
        ]
        found += [
            Move(table, {"owner": heir.before, table.column: key}, {"owner": heir.after})
            for table, key in keys
        ]
    order = list(dict.fromkeys(table.file for table in (*BY_THREAD, PEOPLE, *BY_CONTEXT, *BY_TASK)))
    return sorted(found, key=lambda each: order.index(each.table.file))


def _encrypted(move: Move, *, shared: bool) -> list[Column]:
    """The encrypted columns of the rows that are bound to what changes."""
    name = move.table.shared if shared else move.table.name
    return [
        column
        for column in COLUMNS
        if name and name == (column.shared if shared else column.table) and set(move.to) & set(column.given)
    ]


def adopt_in_files(home: Path, heir: Heir, codec: Codec, *, dry: bool) -> Plan:
    """Move the conversations in the files of a folder that no other process uses; with `dry` only say which.

    Raises:
        StorageError: A file cannot be read or written, or `codec` cannot read a value of these conversations.
    """
    tasks = rows_in(home / StoreFile.TASKS, "tasks", TASKS)
    busy = rows_in(home / StoreFile.RUNS, "runs", BUSY)
    remote = rows_in(home / StoreFile.CONTEXTS, "remote_contexts", REMOTE)
    held = {thread for (thread,) in rows_in(home / StoreFile.CHECKPOINTS, "checkpoints", HELD)}
    plan = planned(heir, tasks, {row[0] for row in busy}, remote, held)
    by_file: dict[str, list[Move]] = {}
    for each in [] if dry else planned_moves(plan, heir):
        by_file.setdefault(each.table.file, []).append(each)
    for name, its in by_file.items():
        if name and (home / name).exists():
            _run(home / name, its, codec)
    return plan


def _run(file: Path, its: Sequence[Move], codec: Codec) -> None:
    try:
        with closing(connect(file)) as db, db:
            there = tables_in(db)
            db.execute("BEGIN IMMEDIATE")
            for each in its:
                if each.table.name in there:
                    for column in _encrypted(each, shared=False):
                        move_in_file(db, column, codec, each.where, each.to)
                    db.execute(each.statement(each.table.name, "?"), each.values)
    except sqlite3.Error as error:
        raise unopened(file, error) from error


async def adopt_in_database(pool: PostgresPool, heir: Heir, codec: Codec, *, dry: bool) -> Plan:
    """Move the conversations in an agent's schema, all or none; with `dry` only say which. One that is being deleted stays.

    Raises:
        StorageError: The database failed, or `codec` cannot read a value of these conversations.
    """
    from utils.persistence.encrypted.renew_database import move as move_in_database

    async def work(db: Connection) -> Plan:
        async def rows(query: str) -> list[Any]:
            return await (await db.execute(query.encode())).fetchall()

        await hold_all_turns(db)
        tasks = await rows(TASKS)
        busy = {row[0] for row in await rows(BUSY)} | await held_tasks(db, pool.schema, tasks)
        held = {row[0] for row in await rows(HELD)}
        plan = planned(heir, tasks, busy, await rows(REMOTE), held)
        for each in [] if dry else planned_moves(plan, heir):
            if name := each.table.shared:
                for column in _encrypted(each, shared=True):
                    await move_in_database(db, column, codec, each.where, each.to)
                await db.execute(each.statement(name, "%s").encode(), each.values)
        return plan

    return await pool.run(work)
