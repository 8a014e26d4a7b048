"""Encrypted stores over SQLite and PostgreSQL: switched on later, with keys that rotate and keys that are lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypedDict

import pytest
from a2a.types.a2a_pb2 import TaskPushNotificationConfig
from cryptography.fernet import Fernet
from langchain_core.messages import HumanMessage
from langgraph.graph import StateGraph

from agents.github.changes.encrypted import EncryptedJournal
from agents.github.changes.journal import DONE, Entry, Journal
from agents.github.changes.journal_postgres import PostgresJournal
from agents.github.changes.sender import Book
from tests.e2e.conversations.asking import files_with
from tests.postgres import PARAMETER, PostgresServer
from utils.a2a_common.server.push.store import PushConfigs, SqlitePushConfigs
from utils.a2a_common.server.push.store_postgres import PostgresPushConfigs
from utils.encryption.codec import PLAIN, Codec
from utils.encryption.errors import StorageKeyMissing
from utils.errors import SettingsError
from utils.persistence.delegations import DelegationRecord
from utils.persistence.encrypted.check import MISSING, UNSET, check_keys
from utils.persistence.memories import MemoryRow
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.runs import LOST as LOST_TURN
from utils.persistence.runs import RunRow
from utils.persistence.stores import Stores, stores_in
from utils.persistence.task_log_store import LOST, Query, Record, RecordKind, Row, Write
from utils.persistence.tool_record import CallKey

OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))
READING = Codec(["plain", OLD])
BEFORE, ROTATED, REMOVED = Codec([OLD]), Codec([NEW, OLD]), Codec([NEW])
SECRET = "zanzibar"
CALL = CallKey("t", "s", "c")


@pytest.fixture(params=["sqlite", PARAMETER])
async def place(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[Path, PostgresPool | None]]:
    async with AsyncExitStack() as stack:
        pool = None
        if request.param == "postgresql":
            pool = await stack.enter_async_context(request.getfixturevalue("postgres").opened())
        yield tmp_path, pool


class State(TypedDict):
    """A text, a list and messages: PostgreSQL's saver stores them in different tables."""

    text: str
    texts: list[str]
    messages: list[HumanMessage]


async def said(stores: Stores, text: str | None = None) -> Any:
    """What a conversation's checkpoint holds, after a turn where `text` is given."""

    async def turn(state: State) -> State:
        texts = [*state["texts"], state["text"]]
        return {"text": f"{state['text']}!", "texts": texts, "messages": [HumanMessage(state["text"])]}

    graph = StateGraph(State).add_node("turn", turn).set_entry_point("turn")
    async with stores.checkpointer() as saver:
        compiled = graph.compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": "t"}}
        if text is not None:
            await compiled.ainvoke({"text": text, "texts": [], "messages": []}, config, durability="sync")
        return (await compiled.aget_state(config)).values


async def write_all(stores: Stores) -> None:
    async with opened(stores) as (log, runs, record, delegations, titles):
        await log.claim("t", "ann")
        attempt = (await log.claim("t", "ann")).attempt
        row = Row("t", "ann", "c", 2, 1, SECRET.encode(), 1)
        await log.append(Write("t", "ann", attempt, 0, (Record(1, RecordKind.TASK, SECRET.encode()),), row))
        await runs.put(RunRow("t", "c", "ann", SECRET.encode()))
        await record.finish(CALL, SECRET.encode())
        await delegations.put(
            DelegationRecord(
                "d", "t", "t", "keys", "c", "s", SECRET, "there", questions=({"question": SECRET},)
            )
        )
        await titles.put("ann", "c", SECRET)
    await stores.artifacts().put("t", {"h": SECRET})
    memories = stores.memories()
    await memories.open()
    await memories.put(MemoryRow("ann", "facts", "m", SECRET.encode(), 1, 1), ["t"])
    await memories.close()
    await said(stores, SECRET)


async def read_all(stores: Stores) -> set[Any]:
    async with opened(stores) as (log, runs, record, delegations, titles):
        look, run, call, delegation = (
            await log.look("t", "ann"),
            await runs.row("t"),
            await record.get(CALL),
            await delegations.get("d"),
        )
        assert look.row is not None
        assert run is not None
        assert call is not None
        assert delegation is not None
        found = {
            look.row.body.decode(),
            (await log.events("t", after=0, limit=9))[0].body.decode(),
            (await log.page(Query("ann")))[0][0].body.decode(),
            run.body.decode(),
            call.outcome.decode(),
            delegation.request,
            delegation.questions[0]["question"],
            await titles.get("ann", "c"),
        }
    memories = stores.memories()
    await memories.open()
    found |= {row.body.decode() for row in await memories.all_of("ann")}
    await memories.close()
    values = await said(stores)
    return found | {
        await stores.artifacts().get("t", "h"),
        values["text"].rstrip("!"),
        *values["texts"],
        values["messages"][0].content,
    }


class opened:
    """The stores that have to be opened."""

    def __init__(self, stores: Stores) -> None:
        self._all: Any = (
            stores.task_log(),
            stores.runs(),
            stores.tool_record(),
            stores.delegations(),
            stores.titles(),
        )

    async def __aenter__(self) -> Any:
        for store in self._all:
            await store.open()
        return self._all

    async def __aexit__(self, *_: object) -> None:
        for store in self._all:
            await store.close()


@pytest.mark.parametrize(
    ("writing", "reading"),
    [
        (PLAIN, BEFORE),
        (BEFORE, BEFORE),
        (BEFORE, ROTATED),
        (ROTATED, REMOVED),
        (READING, PLAIN),
        (PLAIN, READING),
        (BEFORE, READING),
    ],
    ids=[
        "switched on",
        "same key",
        "rotated",
        "old key gone",
        "a key that only reads, then none",
        "none, then a key that only reads",
        "a replica that writes, then one that only reads",
    ],
)
async def test_what_one_start_stored_the_next_one_reads(
    place: tuple[Path, PostgresPool | None], writing: Codec, reading: Codec
) -> None:
    await write_all(stores_in(*place, writing))
    assert await read_all(stores_in(*place, reading)) == {SECRET}


async def told_elsewhere(place: tuple[Path, PostgresPool | None], codec: Codec) -> None:
    """What the stores of a server and of an agent keep besides: a webhook and a change at GitHub."""
    home, pool = place
    push: PushConfigs
    plain: Book
    if pool is None:
        push, plain = SqlitePushConfigs(home / "push.sqlite", codec), Journal(home / "changes.sqlite")
    else:
        push, plain = PostgresPushConfigs(pool, codec), PostgresJournal(pool)
    journal = EncryptedJournal(plain, codec)
    await push.open()
    config = TaskPushNotificationConfig(id="w", url=f"http://{SECRET}.example", token=SECRET)
    await push.put("t", "ann", config, after=0)
    await push.close()
    await journal.open()
    await journal.ask(Entry("key", "t", "t", "digest", SECRET))
    await journal.settle("key", DONE, f"http://{SECRET}.example")
    await journal.close()


@pytest.mark.parametrize("codec", [BEFORE, PLAIN, READING], ids=["encrypted", "plain", "only read"])
async def test_no_file_holds_a_word_of_what_is_kept_while_a_task_is_worked_on(
    place: tuple[Path, PostgresPool | None], codec: Codec, request: pytest.FixtureRequest
) -> None:
    await write_all(stores_in(*place, codec))
    await told_elsewhere(place, codec)
    home, pool = place
    folders = [home]
    if pool is not None:
        server: PostgresServer = request.getfixturevalue("postgres")
        server.execute("CHECKPOINT", pool.conninfo)
        folders = [home, server.files_of(pool.conninfo)]
    found = [name for folder in folders for name in files_with(folder, SECRET)]
    assert bool(found) is not codec.on
    if pool is None and not codec.on:
        assert {name.partition(".sqlite")[0] for name in found} == {
            "artifacts",
            "changes",
            "checkpoints",
            "errands",
            "memories",
            "push",
            "runs",
            "tasks",
            "titles",
            "tool_calls",
        }


async def test_without_its_key_each_read_fails_with_a_sentence_and_a_list_shows_the_rest(
    place: tuple[Path, PostgresPool | None],
) -> None:
    await write_all(stores_in(*place, BEFORE))
    stores = stores_in(*place, REMOVED)
    async with opened(stores) as (log, runs, record, delegations, titles):
        (row,), total = await log.page(Query("ann"))
        assert (row.id, row.body, total) == ("t", LOST, 1)
        assert [row.body for row in await log.unfinished([2])] == [LOST]
        for reading in (
            log.look("t", "ann"),
            log.events("t", after=0, limit=9),
            record.get(CALL),
            delegations.of_task("t"),
            stores.artifacts().get("t", "h"),
            said(stores),
        ):
            with pytest.raises(StorageKeyMissing):
                await reading
        assert await titles.get("ann", "c") == ""
        assert [run.body for run in await runs.rows()] == [LOST_TURN]
        await log.delete("t", "ann")
        assert await log.page(Query("ann")) == ([], 0)


async def test_a_start_without_the_keys_of_the_last_one_is_refused(
    place: tuple[Path, PostgresPool | None],
) -> None:
    await check_keys(PLAIN, *place)
    await check_keys(BEFORE, *place)
    for codec, sentence in ((REMOVED, MISSING), (PLAIN, UNSET)):
        with pytest.raises(SettingsError) as caught:
            await check_keys(codec, *place)
        assert (caught.value.variable, caught.value.message) == ("ENCRYPTION_KEYS", sentence)
    await check_keys(READING, *place)
    with pytest.raises(SettingsError):
        await check_keys(PLAIN, *place)
    await check_keys(ROTATED, *place)
    await check_keys(REMOVED, *place)
    with pytest.raises(SettingsError):
        await check_keys(BEFORE, *place)
