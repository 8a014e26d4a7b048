"""All stores of an agent, in which two people told each their own name as a secret, and how it is read again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from a2a.types.a2a_pb2 import TaskPushNotificationConfig
from langchain_core.messages import HumanMessage
from langgraph.graph import StateGraph

from agents.github.changes.encrypted import EncryptedJournal
from agents.github.changes.journal import DONE, UNKNOWN, Entry, Journal
from agents.github.changes.journal_postgres import PostgresJournal
from agents.github.changes.sender import Book
from tests.contract.stores.test_encryption import State
from utils.a2a_common.server.push.store import PushConfigs, SqlitePushConfigs
from utils.a2a_common.server.push.store_postgres import PostgresPushConfigs
from utils.encryption.codec import Codec
from utils.persistence.delegations import WAITING, DelegationRecord
from utils.persistence.memories import MemoryRow
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.runs import RunRow
from utils.persistence.stores import stores_in
from utils.persistence.task_log_store import LOST, Query, Record, RecordKind, Row, Write
from utils.persistence.tool_record import CallKey


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


class Told:
    """All stores of an agent, in which each of two people told a secret: their own name."""

    def __init__(self, storage: Place, codec: Codec) -> None:
        stores = stores_in(storage.home, storage.pool, codec)
        self.log, self.runs, self.record = stores.task_log(), stores.runs(), stores.tool_record()
        self.delegations, self.titles, self.artifacts = (
            stores.delegations(),
            stores.titles(),
            stores.artifacts(),
        )
        self.memories = stores.memories()
        self.push: PushConfigs
        book: Book
        if storage.pool is None:
            self.push = SqlitePushConfigs(storage.home / "push.sqlite", codec)
            book = Journal(storage.home / "changes.sqlite")
        else:
            self.push, book = PostgresPushConfigs(storage.pool, codec), PostgresJournal(storage.pool)
        self.journal = EncryptedJournal(book, codec)
        self.checkpointer = stores.checkpointer
        self._opened: Any = (
            *(self.log, self.runs, self.record, self.delegations, self.titles),
            *(self.push, self.journal, self.memories),
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
        record, row = Record(1, RecordKind.TASK, name.encode()), Row(name, name, name, 2, 1, name.encode(), 1)
        await self.log.append(Write(name, name, attempt, 0, (record,), row))
        await self.runs.put(RunRow(name, name, name, name.encode()))
        await self.record.finish(CallKey(name, "s", "c"), name.encode())
        asked: Any = {"questions": ({"question": name},), "counted": {name: 1}, "state": WAITING}
        await self.delegations.put(DelegationRecord(name, name, name, "a", "c", "s", name, name, **asked))
        await self.titles.put(name, name, name)
        await self.artifacts.put(name, {"h": name})
        await self.memories.put(MemoryRow(name, "facts", "m", name.encode(), 1, 1), [name])
        await self.push.put(name, name, TaskPushNotificationConfig(id="w", url=f"http://{name}"), after=0)
        for state, key in ((DONE, f"{name}-done"), (UNKNOWN, name)):
            await self.journal.ask(Entry(key, name, name, "digest", name))
            await self.journal.settle(key, state, f"http://{name}")
        await self.said(name, name)

    async def said(self, name: str, text: str | None = None) -> Any:
        """What a checkpoint holds, after a turn where `text` is given."""

        async def turn(state: State) -> State:
            texts = [*state["texts"], state["text"]]
            return {"text": f"{state['text']}!", "texts": texts, "messages": [HumanMessage(state["text"])]}

        graph = StateGraph(State).add_node("turn", turn).set_entry_point("turn")
        async with self.checkpointer() as saver:
            compiled = graph.compile(checkpointer=saver)
            config: Any = {"configurable": {"thread_id": name}}
            if text is not None:
                await compiled.ainvoke({"text": text, "texts": [], "messages": []}, config, durability="sync")
            values = (await compiled.aget_state(config)).values
        return {values["text"].rstrip("!"), *values["texts"], values["messages"][0].content}


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
    return found and found.body.decode("latin-1")


async def outcome(told: Told) -> Any:
    found = await told.record.get(CallKey("bob", "s", "c"))
    return found and found.outcome and found.outcome.decode()


async def delegation(told: Told) -> Any:
    (found,) = [one for agent in ("a", "b") for one in await told.delegations.unanswered("bob", agent)]
    return {found.request, found.questions[0]["question"], *found.counted}


async def title(told: Told) -> Any:
    return await told.titles.get("bob", "bob")


async def memory(told: Told) -> Any:
    found = await told.memories.get("bob", "facts", "m")
    return found and found.body.decode()


async def memories(told: Told) -> Any:
    return [row.body.decode() for row in await told.memories.all_of("bob")]


async def artifact(told: Told) -> Any:
    return await told.artifacts.get("bob", "h")


async def webhooks(told: Told) -> Any:
    return {hook.config.url for hook in told.push.all_webhooks() if hook.owner == "bob"}


async def untold(told: Told) -> Any:
    found = await told.journal.unreported("bob")
    return {entry.what for entry in found} | {entry.link for entry in found}


async def done(told: Told) -> Any:
    entry, _ = await told.journal.ask(Entry("bob-done", "bob", "bob", "digest", "bob"))
    return {entry.what, entry.link}


async def said(told: Told) -> Any:
    return await told.said("bob")


async def all_told(storage: Place, codec: Codec) -> None:
    async with Told(storage, codec) as told:
        for name in ("ann", "bob"):
            await told.tell(name)


READINGS = (look, listed, run, outcome, title, memory, artifact)
SETS = (events, delegation, said)


async def assert_bob_is_read(storage: Place, codec: Codec) -> None:
    async with Told(storage, codec) as told:
        for reading in READINGS:
            assert await reading(told) == "bob", reading
        for reading in SETS:
            assert await reading(told) == {"bob"}, reading
        assert await webhooks(told) == {"http://bob"}
        assert await untold(told) == await done(told) == {"bob", "http://bob"}
