"""What was stored before is encrypted by the first key, for its place, in files and in PostgreSQL."""

from __future__ import annotations

import asyncio
from contextlib import closing
from sqlite3 import connect
from typing import Any

import pytest
from cryptography.fernet import Fernet

from tests.contract.stores.told import Place, Told, all_told, assert_bob_is_read
from tests.contract.stores.unbound import Unbound
from tests.e2e.conversations.asking import files_with
from tests.postgres import PostgresServer
from utils.encryption.codec import PLAIN, Codec
from utils.persistence.encrypted.columns import COLUMNS
from utils.persistence.encrypted.renew_database import renew_database
from utils.persistence.encrypted.renew_files import renew_files
from utils.persistence.encrypted.tally import Tally

OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))
SECRET = "zanzibar-4711"


async def renew(storage: Place, codec: Codec, tally: Tally | None = None, *, rewrite: bool = False) -> Tally:
    tally = tally or Tally()
    if storage.pool is None:
        await asyncio.to_thread(renew_files, storage.home, codec, tally)
    else:
        await renew_database(storage.pool, codec, tally, rewrite=rewrite)
    return tally


@pytest.mark.parametrize("before", [PLAIN, Unbound([OLD]), Codec([OLD])], ids=["plain", "unbound", "old key"])
async def test_all_is_encrypted_by_the_first_key_and_stays_readable(storage: Place, before: Codec) -> None:
    await all_told(storage, before)
    tally = await renew(storage, Codec([NEW, OLD]))
    assert tally.seen == tally.total > len(COLUMNS)
    assert not tally.unreadable
    await assert_bob_is_read(storage, Codec([NEW]))
    again = await renew(storage, Codec([NEW, OLD]))
    assert (again.total, again.renewed) == (tally.total, 0)


async def test_every_column_that_is_encrypted_is_renewed(storage: Place) -> None:
    """A value that the command does not know would stay under the old key, which is then thrown away."""
    await all_told(storage, Codec([OLD]))
    before = await values(storage)
    await renew(storage, Codec([NEW, OLD]))
    after = await values(storage)
    assert before
    assert not before & after


async def values(storage: Place) -> set[str]:
    """Every value in any table that Fernet's mark is in."""
    found: set[str] = set()
    if storage.pool is not None:
        async with storage.pool.connection() as db:
            query = b"SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema()"
            for (table,) in await (await db.execute(query)).fetchall():
                rows: list[Any] = await (await db.execute(f'SELECT * FROM "{table}"'.encode())).fetchall()
                found |= {repr(value) for row in rows for value in row if "encrypted" in repr(value)}
        return found
    for file in storage.home.glob("*.sqlite"):
        with closing(connect(file)) as sqlite:
            for (table,) in sqlite.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in sqlite.execute(f"SELECT * FROM {table}"):
                    found |= {repr(value) for value in row if "encrypted" in repr(value)}
    return found


async def test_nothing_plain_is_left_in_a_file(storage: Place, request: pytest.FixtureRequest) -> None:
    async with Told(storage, PLAIN) as told:
        await told.tell(SECRET)
        await told.tell("bob")
    assert hits(storage, request)
    await renew(storage, Codec([NEW]), rewrite=True)
    assert hits(storage, request) == []
    await assert_bob_is_read(storage, Codec([NEW]))


def hits(storage: Place, request: pytest.FixtureRequest) -> list[str]:
    """Files with what was said; ids of conversations stay."""
    if storage.pool is None:
        return files_with(storage.home, f"http://{SECRET}")
    server: PostgresServer = request.getfixturevalue("postgres")
    server.execute("CHECKPOINT", storage.pool.conninfo)
    return files_with(server.files_of(storage.pool.conninfo), f"http://{SECRET}")


async def test_a_run_that_is_stopped_goes_on_from_there(storage: Place) -> None:
    await all_told(storage, PLAIN)

    def stop(tally: Tally) -> None:
        if tally.renewed:
            tally.stopped.set()

    stopped = await renew(storage, Codec([NEW]), Tally(stop))
    assert 0 < stopped.seen < stopped.total
    tally = await renew(storage, Codec([NEW]))
    assert tally.renewed + stopped.renewed == tally.total
    await assert_bob_is_read(storage, Codec([NEW]))


async def test_a_row_that_cannot_be_read_is_named_and_stays(storage: Place) -> None:
    await all_told(storage, Codec([OLD]))
    anns = "(SELECT title FROM {table} WHERE owner = 'ann')"
    await storage.change(
        "titles", ("titles", "titles"), f"UPDATE {{table}} SET title = {anns} WHERE owner = 'bob'"
    )
    tally = await renew(storage, Codec([NEW, OLD]))
    assert tally.unreadable == ["titles.title bob bob"]
    assert tally.renewed == tally.total - 1
    lost = await renew(storage, Codec([OLD]))
    assert len(lost.unreadable) == lost.total
