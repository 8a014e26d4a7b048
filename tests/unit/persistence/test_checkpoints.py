"""Conversations in a file: they outlive the process, and the file grows with them, not with their square."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.graph import MessagesState, StateGraph

from utils.errors import StorageError
from utils.persistence import database
from utils.persistence.checkpoints import open_checkpointer
from utils.persistence.latest_saver import KEPT

CONFIG: RunnableConfig = {"configurable": {"thread_id": "t"}}
WORDS = "a word or two " * 80


async def answer(state: MessagesState) -> dict[str, Any]:
    return {"messages": [AIMessage(WORDS)]}


async def turns(path: Path, number: int) -> int:
    """Have so many turns; the size of the file afterwards."""
    async with open_checkpointer(path) as saver:
        graph = StateGraph(MessagesState).add_node("model", answer).set_entry_point("model")
        compiled = graph.compile(checkpointer=saver)
        for _ in range(number):
            await compiled.ainvoke({"messages": [HumanMessage("Go on.")]}, CONFIG)
        assert len([kept async for kept in saver.alist(CONFIG)]) == KEPT
    return sum(file.stat().st_size for file in path.parent.iterdir())


async def test_the_file_grows_with_the_conversation_and_not_with_its_square(tmp_path: Path) -> None:
    sizes = []
    for number in (20, 80):
        folder = tmp_path / str(number)
        folder.mkdir()
        sizes.append(await turns(folder / "checkpoints.sqlite", number))
    assert sizes[1] < 5 * sizes[0]


async def test_a_large_conversation_is_kept_once_and_its_log_does_not_stay_long(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.sqlite"
    large = "x y " * 1_000_000
    async with open_checkpointer(path) as saver:
        graph = StateGraph(MessagesState).add_node("model", answer).set_entry_point("model")
        compiled = graph.compile(checkpointer=saver)
        await compiled.ainvoke({"messages": [HumanMessage(large)]}, CONFIG)
        for number in range(3):
            small: RunnableConfig = {"configurable": {"thread_id": str(number)}}
            await compiled.ainvoke({"messages": [HumanMessage("Hello")]}, small)
        with closing(sqlite3.connect(path)) as other:
            (stored,) = other.execute("SELECT sum(length(body)) FROM conversation_messages").fetchone()
        log = path.with_name("checkpoints.sqlite-wal").stat().st_size
    assert len(large) < stored < 1.1 * len(large)
    assert log < 1.1 * database.LOG_BYTES


async def test_a_conversation_goes_on_after_the_file_was_closed(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.sqlite"
    await turns(path, 3)
    await turns(path, 2)
    async with open_checkpointer(path) as saver:
        latest = await saver.aget_tuple(CONFIG)
    assert latest is not None
    assert len(latest.checkpoint["channel_values"]["messages"]) == 10


async def test_a_conversation_that_cannot_be_read_or_kept_is_a_storage_error(tmp_path):
    path = tmp_path / "checkpoints.sqlite"
    config: RunnableConfig = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    async with open_checkpointer(path) as saver:
        with closing(sqlite3.connect(path)) as other:
            other.execute("DROP TABLE checkpoints")
            other.execute("DROP TABLE writes")
        with pytest.raises(StorageError):
            await saver.aget_tuple(config)
        with pytest.raises(StorageError):
            await saver.aput(config, empty_checkpoint(), {}, {})
        with pytest.raises(StorageError):
            await saver.aput_writes(
                {"configurable": {**config["configurable"], "checkpoint_id": "1"}}, [("a", 1)], "t"
            )


async def test_a_file_that_is_no_database_is_named(tmp_path):
    path = tmp_path / "agent" / "checkpoints.sqlite"
    path.parent.mkdir()
    path.write_bytes(b"no database at all, but much longer than its header" * 99)
    with pytest.raises(StorageError, match=r"agent/checkpoints\.sqlite"):
        async with open_checkpointer(path):
            pass


async def test_a_file_that_may_only_be_read_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`query_only` stands in for the rights of the file, which bind no administrator."""
    monkeypatch.setattr(database, "_PRAGMAS", (*database._PRAGMAS, "query_only=ON"))
    with pytest.raises(StorageError, match=r"checkpoints\.sqlite in PLATFORM_ENGINEER_HOME cannot be opened"):
        async with open_checkpointer(tmp_path / "checkpoints.sqlite"):
            pass
