"""Messages of a conversation are stored once, beside the checkpoints that name them, in a file and in PostgreSQL."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any, cast

import pytest
from cryptography.fernet import Fernet
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import MessagesState, StateGraph

from tests.contract.stores.told import Place
from utils.encryption.codec import PLAIN, Codec
from utils.errors import StorageError
from utils.persistence.erasure import SOURCES
from utils.persistence.owned_tables import BY_THREAD, PEOPLE
from utils.persistence.postgres import checkpoints
from utils.persistence.stored_messages import SALT
from utils.persistence.stores import stores_in

KEYS = Codec([Fernet.generate_key().decode()])
CODECS = pytest.mark.parametrize("codec", [PLAIN, KEYS], ids=["plain", "encrypted"])
LONG = "a word or two " * 80


class Room:
    """The conversations at a place, and what their tables hold."""

    def __init__(self, storage: Place, codec: Codec = PLAIN) -> None:
        self.storage = storage
        self.codec = codec
        self.stores = stores_in(storage.home, storage.pool, codec)

    async def rows(self, query: str) -> list[Any]:
        """The rows of a query, which names tables as PostgreSQL has them."""
        if self.storage.pool is None:
            with closing(sqlite3.connect(self.storage.home / "checkpoints.sqlite")) as db:
                return db.execute(query).fetchall()
        async with self.storage.pool.connection() as connection:
            return await (await connection.execute(query.encode())).fetchall()

    async def execute(self, in_a_file: str, in_postgresql: str) -> None:
        if self.storage.pool is not None:
            await self.storage.pool.execute(in_postgresql)
            return
        with closing(sqlite3.connect(self.storage.home / "checkpoints.sqlite")) as db, db:
            db.execute(in_a_file)

    async def digests(self, thread: str = "t") -> set[str]:
        found = await self.rows(f"SELECT digest FROM conversation_messages WHERE thread_id = '{thread}'")
        return {digest for (digest,) in found} - {SALT}

    async def tables(self) -> list[str]:
        """The tables with a column of the conversation."""
        if self.storage.pool is not None:
            found = await self.rows(
                "SELECT table_name FROM information_schema.columns WHERE column_name = 'thread_id' AND table_schema = current_schema()"
            )
            return [name for (name,) in found]
        found = await self.rows(
            "SELECT name FROM sqlite_master WHERE sql LIKE '%thread_id%' AND type = 'table'"
        )
        return [name for (name,) in found]

    async def stored(self) -> int:
        """Bytes of all values of conversations; in a file, of all that was written since it is `held`."""
        if self.storage.pool is None:
            return (self.storage.home / "checkpoints.sqlite-wal").stat().st_size
        columns = {
            "checkpoint_blobs": "octet_length(blob) + octet_length(type)",
            "checkpoint_writes": "octet_length(blob) + octet_length(type)",
            "conversation_messages": "octet_length(body)",
            "checkpoints": "pg_column_size(checkpoint) + pg_column_size(metadata)",
        }
        sizes = [
            await self.rows(f"SELECT coalesce(sum({column}), 0) FROM {table}")
            for table, column in columns.items()
        ]
        return sum(int(size) for ((size,),) in sizes)

    def held(self) -> closing[sqlite3.Connection]:
        """A reader, for whose sake all that is written stays in the log beside the file; of no use in PostgreSQL."""
        db = sqlite3.connect(self.storage.home / "checkpoints.sqlite", isolation_level=None)
        if self.storage.pool is None:
            db.execute("BEGIN")
            db.execute("SELECT count(*) FROM checkpoints").fetchone()
        return closing(db)


def compiled(saver: Any) -> Any:
    async def answer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"{LONG} {len(state['messages'])}")]}

    graph = StateGraph(MessagesState).add_node("model", answer).set_entry_point("model")
    return graph.compile(checkpointer=saver)


async def turn(saver: Any, thread: str = "t") -> list[Any]:
    """Have a turn; the conversation afterwards."""
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    asked = {"messages": [HumanMessage(f"Go on. {LONG}")]}
    await compiled(saver).ainvoke(asked, config, durability="sync")
    return await messages(saver, thread)


async def messages(saver: Any, thread: str = "t") -> list[Any]:
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    return cast("list[Any]", (await compiled(saver).aget_state(config)).values["messages"])


async def written(room: Room, number: int) -> int:
    """Bytes that are written for a turn behind so many."""
    before = [HumanMessage(f"{LONG} {each}") for each in range(2 * number)]
    thread = str(number)
    async with room.stores.checkpointer() as saver:
        config: RunnableConfig = {"configurable": {"thread_id": thread}}
        await compiled(saver).aupdate_state(config, {"messages": before})
        with room.held():
            start = await room.stored()
            await turn(saver, thread)
            return await room.stored() - start


@CODECS
async def test_a_turn_of_a_long_conversation_writes_little_more_than_one_of_a_short_one(
    storage: Place, codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        checkpoints, "EVERY", 10**9
    )  # nothing is deleted, so that what is stored is what was written
    room = Room(storage, codec)
    short, long = [await written(room, number) for number in (10, 400)]
    conversation = 800 * len(LONG)
    assert long - short < conversation / 5


@CODECS
async def test_each_message_is_stored_once_and_goes_with_its_conversation(
    storage: Place, codec: Codec
) -> None:
    room = Room(storage, codec)
    async with room.stores.checkpointer() as saver:
        for _ in range(6):
            said = await turn(saver)
        await turn(saver, "other")
        assert [each.content for each in await messages(saver)] == [each.content for each in said]
        assert len(said) == 12
        kept = await room.digests()
        assert 12 <= len(kept) <= 16
        assert not kept & await room.digests("other")
        await saver.adelete_thread("t")
        for table in await room.tables():
            assert await room.rows(f"SELECT 1 FROM {table} WHERE thread_id = 't'") == [], table
        assert len(await messages(saver, "other")) == 2


async def test_every_table_with_rows_of_a_conversation_is_known_to_what_erases_and_moves_them(
    storage: Place,
) -> None:
    room = Room(storage)
    known = {name for table in (*BY_THREAD, PEOPLE, SOURCES) for name in (table.name, table.shared)}
    async with room.stores.checkpointer() as saver:
        await turn(saver)
        assert {"conversation_messages"} <= set(await room.tables()) <= known


async def test_a_message_that_is_no_longer_said_is_deleted_with_its_checkpoint(storage: Place) -> None:
    room = Room(storage)
    config: RunnableConfig = {"configurable": {"thread_id": "t"}}
    async with room.stores.checkpointer() as saver:
        await compiled(saver).aupdate_state(config, {"messages": [HumanMessage("first", id="1")]})
        first = await room.digests()
        for number in range(9):
            said = HumanMessage(f"later {number}", id="1")
            await compiled(saver).aupdate_state(config, {"messages": [said]})
        assert len(first) == 1
        assert not first & await room.digests()
        assert [each.content for each in await messages(saver)] == ["later 8"]


async def plain_saver(storage: Place) -> Any:
    """LangGraph's own, as earlier versions wrote."""
    if storage.pool is not None:
        return AsyncPostgresSaver(cast("Any", storage.pool.pool))
    import aiosqlite

    return AsyncSqliteSaver(await aiosqlite.connect(storage.home / "checkpoints.sqlite"))


async def closed(saver: Any) -> None:
    if isinstance(saver, AsyncSqliteSaver):
        await saver.conn.close()


async def test_a_conversation_of_an_earlier_version_goes_on_and_gets_the_new_form(storage: Place) -> None:
    earlier = await plain_saver(storage)
    for _ in range(2):
        before = await turn(earlier)
    await closed(earlier)
    room = Room(storage)
    async with room.stores.checkpointer() as saver:
        assert await messages(saver) == before
        assert await room.digests() == set()
        for _ in range(2):
            after = await turn(saver)
        assert after[:4] == before
        assert len(await room.digests()) >= len(after) == 8
        table = "checkpoints" if storage.pool is None else "checkpoint_blobs"
        value = "checkpoint" if storage.pool is None else "blob"
        ((largest,),) = await room.rows(
            f"SELECT max(length({value})) FROM {table} WHERE thread_id = 't' AND type LIKE 'messages.%'"
        )
    assert largest < len(LONG)


async def test_a_version_that_does_not_know_the_form_refuses_it_and_loses_no_message(storage: Place) -> None:
    room = Room(storage)
    async with room.stores.checkpointer() as saver:
        said = await turn(saver)
    earlier = await plain_saver(storage)
    with pytest.raises(RuntimeError, match=r"messages\."):
        await messages(earlier)
    await closed(earlier)
    async with room.stores.checkpointer() as saver:
        assert await messages(saver) == said


async def test_a_checkpoint_that_cannot_be_stored_leaves_no_message_behind(storage: Place) -> None:
    room = Room(storage)
    config: RunnableConfig = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    async with room.stores.checkpointer() as saver:
        said = await turn(saver)
        kept = await room.digests()
        await room.execute(
            "CREATE TRIGGER no_more BEFORE INSERT ON checkpoints BEGIN SELECT raise(ABORT, 'no'); END",
            "ALTER TABLE checkpoints ADD CONSTRAINT no_more CHECK (false) NOT VALID",
        )
        lost = {"channel_values": {"messages": [HumanMessage("lost")]}, "channel_versions": {"messages": "9"}}
        with pytest.raises(StorageError):
            await saver.aput(config, cast("Any", empty_checkpoint() | lost), {}, {"messages": "9"})
        assert await room.digests() == kept
        await room.execute("DROP TRIGGER no_more", "ALTER TABLE checkpoints DROP CONSTRAINT no_more")
        assert await messages(saver) == said
        assert len(await turn(saver)) == len(said) + 2


async def test_two_processes_write_one_conversation_and_each_finds_all_messages(storage: Place) -> None:
    async with Room(storage).stores.checkpointer() as one, Room(storage).stores.checkpointer() as other:
        for _ in range(3):
            for saver in (one, other):
                said = await turn(saver)
        assert len(said) == 12
        assert await messages(one) == await messages(other) == said


@CODECS
async def test_a_digest_tells_nobody_what_a_message_says(storage: Place, codec: Codec) -> None:
    """Two conversations with the same messages have no digest in common."""
    room = Room(storage, codec)
    same = {"messages": [HumanMessage("yes", id="1")]}
    async with room.stores.checkpointer() as saver:
        for thread in ("a", "b"):
            config: RunnableConfig = {"configurable": {"thread_id": thread}}
            await compiled(saver).aupdate_state(config, same)
    assert len(await room.digests("a") | await room.digests("b")) == 2
