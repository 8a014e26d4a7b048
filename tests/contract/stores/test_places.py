"""An encrypted value is of use in its own row alone: who may write to the storage cannot show it to somebody else."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest
from a2a.types.a2a_pb2 import TaskPushNotificationConfig
from cryptography.fernet import Fernet
from langgraph.graph import StateGraph

from agents.github.changes.encrypted import EncryptedJournal
from agents.github.changes.journal import DONE, UNKNOWN, Entry, Journal
from agents.github.changes.journal_postgres import PostgresJournal
from agents.github.changes.sender import Book
from tests.contract.stores.test_encryption import State
from tests.contract.stores.unbound import Unbound
from tests.postgres import PARAMETER
from utils.a2a_common.server.push_store import PushConfigs, SqlitePushConfigs
from utils.a2a_common.server.push_store_postgres import PostgresPushConfigs
from utils.encryption.codec import Codec
from utils.encryption.errors import StorageMisplaced
from utils.persistence.delegations import WAITING, DelegationRecord
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.runs import RunRow
from utils.persistence.stores import stores_in
from utils.persistence.task_log_store import LOST, Kind, Query, Record, Row, Write
from utils.persistence.tool_record import CallKey

KEY = Fernet.generate_key().decode()


@dataclass(frozen=True)
class Place:
    """Where stores are: in files, or in a database as well."""

    home: Path
    pool: PostgresPool | None

    async def change(self, file: str, names: tuple[str, str], statement: str) -> None:
        """Do what somebody does who may write to the storage; `names` are those of the table in a file and in the database."""
        text = statement.format(table=names[0 if self.pool is None else 1])
        if self.pool is None:
            with closing(sqlite3.connect(self.home / f"{file}.sqlite")) as db, db:
                assert db.execute(text).rowcount > 0
        else:
            assert await self.pool.execute(text, ()) > 0


@pytest.fixture(params=["sqlite", PARAMETER])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    async with AsyncExitStack() as stack:
        pool = None
        if request.param == "postgresql":
            pool = await stack.enter_async_context(request.getfixturevalue("postgres").opened())
        yield Place(tmp_path, pool)


class Told:
    """All stores of an agent, in which each of two people told a secret: their own name."""

    def __init__(self, place: Place, codec: Codec) -> None:
        stores = stores_in(place.home, place.pool, codec)
        self.log, self.runs, self.record = stores.task_log(), stores.runs(), stores.tool_record()
        self.delegations, self.titles, self.artifacts = (
            stores.delegations(),
            stores.titles(),
            stores.artifacts(),
        )
        self.push: PushConfigs
        book: Book
        if place.pool is None:
            self.push = SqlitePushConfigs(place.home / "push.sqlite", codec)
            book = Journal(place.home / "changes.sqlite")
        else:
            self.push, book = PostgresPushConfigs(place.pool, codec), PostgresJournal(place.pool)
        self.journal = EncryptedJournal(book, codec)
        self.checkpointer = stores.checkpointer
        self._opened: Any = (
            *(self.log, self.runs, self.record, self.delegations, self.titles),
            *(self.push, self.journal),
        )

    async def __aenter__(self) -> Self:
        for store in self._opened:
            await store.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        for store in self._opened:
            await store.close()

    async def tell(self, name: str) -> None:
        attempt = (await self.log.claim(name, name)).attempt
        record, row = Record(1, Kind.TASK, name.encode()), Row(name, name, name, 2, 1, name.encode(), 1)
        await self.log.append(Write(name, name, attempt, 0, (record,), row))
        await self.runs.put(RunRow(name, name, name, name.encode()))
        await self.record.finish(CallKey(name, "s", "c"), name.encode())
        asked: Any = {"questions": ({"question": name},), "counted": {name: 1}, "state": WAITING}
        await self.delegations.put(DelegationRecord(name, name, name, "a", "c", "s", name, name, **asked))
        await self.titles.put(name, name, name)
        await self.artifacts.put(name, {"h": name})
        await self.push.put(name, name, TaskPushNotificationConfig(id="w", url=f"http://{name}"), after=0)
        for state, key in ((DONE, f"{name}-done"), (UNKNOWN, name)):
            await self.journal.ask(Entry(key, name, name, "digest", name))
            await self.journal.settle(key, state, f"http://{name}")
        await self.said(name, name)

    async def said(self, name: str, text: str | None = None) -> Any:
        """What a checkpoint holds, after a turn where `text` is given."""

        async def turn(state: State) -> State:
            return {"text": f"{state['text']}!", "texts": [*state["texts"], state["text"]]}

        graph = StateGraph(State).add_node("turn", turn).set_entry_point("turn")
        async with self.checkpointer() as saver:
            compiled = graph.compile(checkpointer=saver)
            config: Any = {"configurable": {"thread_id": name}}
            if text is not None:
                await compiled.ainvoke({"text": text, "texts": []}, config, durability="sync")
            values = (await compiled.aget_state(config)).values
        return {values["text"].rstrip("!"), *values["texts"]}


async def look(told: Told) -> Any:
    found = await told.log.look("bob", "bob")
    return found and found.row and found.row.body.decode()


async def listed(told: Told) -> Any:
    ((row,), _) = await told.log.page(Query("bob"))
    return row.body if row.body == LOST else row.body.decode()


async def events(told: Told) -> Any:
    return {record.body.decode() for record in await told.log.events("bob", after=0, limit=9)}


async def run(told: Told) -> Any:
    found = await told.runs.row("bob")
    return found and found.body.decode()


async def outcome(told: Told) -> Any:
    found = await told.record.get(CallKey("bob", "s", "c"))
    return found and found.outcome and found.outcome.decode()


async def delegation(told: Told) -> Any:
    (found,) = await told.delegations.waiting("bob")
    return {found.request, found.questions[0]["question"], *found.counted}


async def title(told: Told) -> Any:
    return await told.titles.get("bob", "bob")


async def artifact(told: Told) -> Any:
    return await told.artifacts.get("bob", "h")


async def webhooks(told: Told) -> Any:
    return {hook.config.url for hook in told.push.all_webhooks() if hook.owner == "bob"}


async def untold(told: Told) -> Any:
    found = await told.journal.untold("bob")
    return {entry.what for entry in found} | {entry.link for entry in found}


async def done(told: Told) -> Any:
    entry, _ = await told.journal.ask(Entry("bob-done", "bob", "bob", "digest", "bob"))
    return {entry.what, entry.link}


async def said(told: Told) -> Any:
    return await told.said("bob")


class Theft(NamedTuple):
    """A change of the storage by which Bob shall be shown what Ann said.

    Attributes:
        file: The file.
        names: The table, there and in PostgreSQL.
        statement: The change.
        reading: What Bob is shown then.
        instead: What that is where nothing is refused and nothing of Ann's is shown.
    """

    file: str
    names: tuple[str, str]
    statement: str
    reading: Callable[[Told], Awaitable[Any]]
    instead: Any = None


def copied(column: str, key: str, suffix: str = "") -> str:
    """Put Ann's value into Bob's row."""
    anns = f"(SELECT {column} FROM {{table}} WHERE {key} = 'ann{suffix}')"
    return f"UPDATE {{table}} SET {column} = {anns} WHERE {key} = 'bob{suffix}'"


def given(column: str) -> str:
    """Say of Ann's row that it is Bob's, in the place of his own."""
    return f"UPDATE {{table}} SET {column} = 'bob' WHERE {column} = 'ann'"


def gone(column: str) -> str:
    return f"DELETE FROM {{table}} WHERE {column} = 'bob'"


TASKS, EVENTS, RUNS = ("tasks", "tasks"), ("task_events", "task_events"), ("runs", "runs")
CHANGES, ERRANDS, TITLES = ("changes", "changes"), ("errands", "delegations"), ("titles", "titles")
CALLS, ARTIFACTS, PUSH = (
    ("tool_calls", "tool_calls"),
    ("artifacts", "artifacts"),
    ("push_configs", "push_configs"),
)
CHECKPOINTS = ("checkpoints", "checkpoints")

THEFTS = {
    "a task": (Theft("tasks", TASKS, copied("body", "id"), look),),
    "a task in a list": (Theft("tasks", TASKS, copied("body", "id"), listed, LOST),),
    "a task with its owner": (
        Theft("tasks", TASKS, gone("id"), look),
        Theft("tasks", TASKS, "UPDATE {table} SET owner = 'bob' WHERE id = 'ann'", listed, LOST),
    ),
    "an event": (Theft("tasks", EVENTS, copied("body", "task_id"), events),),
    "all events": (
        Theft("tasks", EVENTS, gone("task_id"), events),
        Theft("tasks", EVENTS, given("task_id"), events),
    ),
    "a turn": (Theft("runs", RUNS, copied("body", "task_id"), run),),
    "an outcome": (Theft("tool_calls", CALLS, copied("outcome", "task_id"), outcome),),
    "a request": (Theft("errands", ERRANDS, copied("request", "id"), delegation),),
    "a question": (Theft("errands", ERRANDS, copied("questions", "id"), delegation),),
    "a usage": (Theft("errands", ERRANDS, copied("counted", "id"), delegation),),
    "a delegation": (
        Theft("errands", ERRANDS, gone("id"), delegation),
        Theft("errands", ERRANDS, given("thread_id"), delegation),
    ),
    "a delegation to another agent": (
        Theft("errands", ERRANDS, "UPDATE {table} SET agent = 'b'", delegation),
    ),
    "a title": (Theft("titles", TITLES, copied("title", "owner"), title, ""),),
    "a text": (Theft("artifacts", ARTIFACTS, copied("text", "scope"), artifact),),
    "a webhook": (Theft("push", PUSH, copied("body", "owner"), webhooks, set()),),
    "a change": (Theft("changes", CHANGES, copied("what", "key"), untold),),
    "a change with its conversation": (
        Theft("changes", CHANGES, gone("thread_id"), untold),
        Theft("changes", CHANGES, given("thread_id"), untold),
    ),
    "a link": (Theft("changes", CHANGES, copied("link", "key", "-done"), done),),
}


async def all_told(place: Place, codec: Codec) -> None:
    async with Told(place, codec) as told:
        for name in ("ann", "bob"):
            await told.tell(name)


@pytest.mark.parametrize("thefts", THEFTS.values(), ids=THEFTS)
async def test_what_is_moved_in_the_storage_is_refused(place: Place, thefts: tuple[Theft, ...]) -> None:
    await all_told(place, Codec([KEY]))
    for theft in thefts:
        await place.change(theft.file, theft.names, theft.statement)
    async with Told(place, Codec([KEY])) as told:
        if thefts[-1].instead is None:
            with pytest.raises(StorageMisplaced) as caught:
                await thefts[-1].reading(told)
            assert (caught.value.code, caught.value.retryable) == ("storage_misplaced", False)
        else:
            assert await thefts[-1].reading(told) == thefts[-1].instead


async def test_a_conversation_that_is_copied_from_somebody_else_is_refused(place: Place) -> None:
    await all_told(place, Codec([KEY]))
    copy = "UPDATE {table} SET thread_id = 'bob' WHERE thread_id = 'ann'"
    tables = [("checkpoints", "checkpoints"), ("writes", "checkpoint_writes")]
    for names in [*tables, *([("", "checkpoint_blobs")] if place.pool is not None else [])]:
        await place.change("checkpoints", names, gone("thread_id"))
        await place.change("checkpoints", names, copy)
    async with Told(place, Codec([KEY])) as told:
        with pytest.raises(StorageMisplaced):
            await told.said("bob")


async def test_a_text_among_the_channels_is_bound_in_postgresql_as_well(place: Place) -> None:
    if place.pool is None:
        pytest.skip("A file has all channels in one value.")
    await all_told(place, Codec([KEY]))
    anns = "(SELECT checkpoint->'channel_values' FROM {table} WHERE thread_id = 'ann' ORDER BY checkpoint_id DESC LIMIT 1)"
    put = f"jsonb_set(checkpoint, '{{{{channel_values}}}}', {anns})"
    statement = f"UPDATE {{table}} SET checkpoint = {put} WHERE thread_id = 'bob'"
    await place.change("", CHECKPOINTS, statement)
    async with Told(place, Codec([KEY])) as told:
        with pytest.raises(StorageMisplaced):
            await told.said("bob")


READINGS = (look, listed, run, outcome, title, artifact)
SETS = (events, delegation, said)


@pytest.mark.parametrize("written", [Unbound([KEY]), Codec([KEY])], ids=["before", "now"])
async def test_what_was_encrypted_for_no_place_before_stays_readable(place: Place, written: Codec) -> None:
    await all_told(place, written)
    async with Told(place, Codec([Fernet.generate_key().decode(), KEY])) as told:
        for reading in READINGS:
            assert await reading(told) == "bob", reading
        for reading in SETS:
            assert await reading(told) == {"bob"}, reading
        assert await webhooks(told) == {"http://bob"}
        assert await untold(told) == await done(told) == {"bob", "http://bob"}
