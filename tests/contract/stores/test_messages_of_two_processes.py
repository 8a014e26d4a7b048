"""Two processes at the messages of one conversation in PostgreSQL: one waits for the other, whatever that does and however it ends."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import empty_checkpoint

from tests.contract.stores.test_stored_messages import KEYS, Room, messages, turn
from tests.contract.stores.told import Place
from tests.postgres import PostgresServer
from utils.encryption.codec import Codec
from utils.persistence.encrypted import places
from utils.persistence.postgres import pool as pool_module
from utils.persistence.postgres.errors import DatabaseUnreachable
from utils.persistence.postgres.pool import Connection, PostgresPool
from utils.persistence.postgres.stored_messages import PostgresMessages

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

CONFIG: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
KEPT, OTHER = HumanMessage("kept", id="1"), HumanMessage("other", id="2")


async def put(saver: Any, step: int, *said: HumanMessage) -> None:
    """Store a checkpoint with these messages; what came before is not deleted with it."""
    values = {"channel_values": {"messages": list(said)}, "channel_versions": {"messages": str(step)}}
    checkpoint = cast("Any", empty_checkpoint() | values)
    await saver.aput(CONFIG, checkpoint, {"step": 4 * step + 1}, {"messages": str(step)})


async def waiting(pool: PostgresPool, number: int) -> None:
    """Wait until so many transactions wait for an advisory lock."""
    while await pool.one("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") != (
        number,
    ):
        await asyncio.sleep(0)


@pytest.mark.parametrize("level", ["read committed", "repeatable read", "serializable"])
async def test_a_message_that_is_deleted_while_another_process_waits_to_name_it_is_stored_again(
    postgres: PostgresServer, tmp_path: Path, level: str
) -> None:
    url = await postgres.migrated()
    name = url.rpartition("/")[2]
    postgres.execute(f"ALTER DATABASE {name} SET default_transaction_isolation TO '{level}'")
    pool = PostgresPool(postgres.settings(url), agent="test")
    await pool.open()
    its = PostgresMessages(pool.schema, Room(Place(tmp_path, pool)).codec)
    async with Room(Place(tmp_path, pool)).stores.checkpointer() as saver:
        await put(saver, 1, KEPT)
        await put(saver, 2, OTHER)
        await cast("Any", saver).aprune(["t"], strategy="keep_latest")
        async with pool.transaction() as first:
            await its.to_write(first, "t")
            sweeping = asyncio.create_task(pool.run(lambda db: its.sweep(db, "t")))
            await waiting(pool, 1)
            putting = asyncio.create_task(put(saver, 3, OTHER, KEPT))
            await waiting(pool, 2)
        await asyncio.gather(sweeping, putting)
        found = await saver.aget_tuple(CONFIG)
    await pool.close()
    postgres.drop_database(url)
    assert found is not None
    assert found.checkpoint["channel_values"]["messages"] == [OTHER, KEPT]


async def test_a_process_that_stands_still_holds_up_the_others_for_a_while_and_loses_nothing(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "STANDSTILL_SECONDS", 0.1)
    async with postgres.opened() as pool:
        room = Room(Place(tmp_path, pool))
        its = PostgresMessages(pool.schema, room.codec)
        begun: list[Any] = []
        async with room.stores.checkpointer() as saver:

            async def stands_still(db: Connection) -> None:
                await its.to_write(db, "t")
                if not begun:
                    begun.append(db)
                    await turn(saver)
                await its.sweep(db, "t")

            await pool.run(stands_still)
            assert len(await messages(saver)) == 2


async def test_who_goes_on_for_a_process_that_stands_still_waits_until_the_database_has_ended_its_write(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        pool_module, "STANDSTILL_SECONDS", 1.0
    )  # longer than the wait for a lock, as in service
    async with postgres.opened(DATABASE_WAIT_SECONDS="0.3") as pool:
        room = Room(Place(tmp_path, pool))
        its = PostgresMessages(pool.schema, room.codec)
        async with room.stores.checkpointer() as saver:

            async def stands_still() -> None:
                async with pool.transaction() as standing:
                    await its.to_write(standing, "t")
                    await turn(saver)
                    await its.sweep(standing, "t")

            with pytest.raises(DatabaseUnreachable):
                await stands_still()
            assert len(await messages(saver)) == 2


async def test_a_transaction_waits_no_longer_for_a_table_once_it_has_the_lock_of_the_messages(
    postgres: PostgresServer,
) -> None:
    async with postgres.opened(DATABASE_WAIT_SECONDS="0.3") as pool, pool.transaction() as db:
        await PostgresMessages(pool.schema, KEYS).to_write(db, "t")
        assert await (await db.execute("SHOW lock_timeout")).fetchone() == ("300ms",)


class Watching(Codec):
    """Keys that note in which threads they read bytes."""

    def __init__(self) -> None:
        super().__init__(KEYS.keys)
        self.threads: set[threading.Thread] = set()

    def decrypt(self, stored: bytes, place: tuple[str, ...]) -> bytes:
        """As they do; notes where a message is read."""
        if place[0] == places.message("", "")[0]:
            self.threads.add(threading.current_thread())
        return super().decrypt(stored, place)


async def test_messages_are_decrypted_beside_the_loop(postgres: PostgresServer, tmp_path: Path) -> None:
    async with postgres.opened() as pool:
        codec = Watching()
        async with Room(Place(tmp_path, pool), codec).stores.checkpointer() as saver:
            await put(saver, 1, KEPT, OTHER)
            found = await saver.aget_tuple(CONFIG)
    assert found is not None
    assert found.checkpoint["channel_values"]["messages"] == [KEPT, OTHER]
    assert codec.threads
    assert threading.current_thread() not in codec.threads
