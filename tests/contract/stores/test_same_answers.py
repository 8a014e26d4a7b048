"""Savers that store messages once answer what LangGraph's own answers, whatever is put, read and deleted in whatever order."""

from __future__ import annotations

from contextlib import AsyncExitStack
from random import Random
from typing import Any

import pytest
from cryptography.fernet import Fernet
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Send

from tests.contract.stores.test_stored_messages import Room
from tests.contract.stores.told import Place
from utils.encryption.codec import PLAIN, Codec
from utils.persistence.postgres import checkpoints
from utils.persistence.stored_messages import names

KEYS = Codec([Fernet.generate_key().decode()])
NOW = 4
"""LangGraph's form of checkpoints; those before had the tasks of a step among the writes of the step before."""
STEPS = 40
THREADS, NAMESPACES = ("a", "b"), ("", "inner")
CHANNELS = ("messages", "text", "nested", "__pregel_tasks")
ALONE = ("__error__", "__interrupt__")
"""What LangGraph writes alone."""


def message(random: Random) -> BaseMessage:
    number = str(random.randrange(6))
    picture = {"type": "image", "base64": "QUJD" * 50, "mime_type": "image/png"}
    call: Any = {"name": "look", "args": {"deep": [1, {"x": None}]}, "id": number}
    return random.choice(
        (
            HumanMessage(f"said {number} \x00 ä", id=number),
            HumanMessage(f"said {number}"),
            HumanMessage([{"type": "text", "text": number}, picture], id=number),
            AIMessage(number, tool_calls=[call], response_metadata={"model": number, "at": 1.5}),
            ToolMessage(number, tool_call_id=number, artifact={"rows": [number]}, status="error"),
            SystemMessage(number),
            RemoveMessage(number),
        )
    )


def value(random: Random, deep: int = 0) -> Any:
    """A value of a channel: with messages in all places, or with none."""
    kind = random.randrange(11 if deep < 3 else 7)
    several = [value(random, deep + 1) for _ in range(random.randrange(4))] if kind >= 7 else []
    return (
        (
            message(random),
            "text",
            7,
            b"bytes",
            None,
            [message(random) for _ in range(random.randrange(5))],
            [],
        )[kind]
        if kind < 7
        else (
            several,
            tuple(several),
            {str(at): each for at, each in enumerate(several)},
            Send("node", several),
        )[kind - 7]
    )


def told(found: Any) -> Any:
    """What an answer says: its channels, and its writes in any order."""
    if found is None:
        return None
    values = {name: repr(each) for name, each in found.checkpoint["channel_values"].items()}
    writes = sorted((task, channel, repr(each)) for task, channel, each in found.pending_writes or ())
    return found.checkpoint["id"], values, writes


class Both:
    """LangGraph's saver in memory and the one under test, which are told the same."""

    def __init__(self, plain: Any, other: Any, random: Random) -> None:
        self.savers = (plain, other)
        self.random = random
        self.latest: dict[tuple[str, str], Any] = {}

    async def step(self) -> None:
        """Do something to one conversation."""
        key = self.random.choice(THREADS), self.random.choice(NAMESPACES)
        act = self.random.random()
        if act < 0.05:
            for saver in self.savers:
                await saver.adelete_thread(key[0])
            self.latest = {each: one for each, one in self.latest.items() if each[0] != key[0]}
        elif act < 0.5 and key in self.latest:
            await self._put_writes(key)
        else:
            await self._put(key)

    async def _put(self, key: tuple[str, str]) -> None:
        before = self.latest.get(key)
        values = dict(before["channel_values"]) if before else {}
        versions: dict[str, str] = dict(before["channel_versions"]) if before else {}
        new: dict[str, str] = {}
        for channel in self.random.sample(CHANNELS, self.random.randrange(1, 4)):
            new[channel] = versions[channel] = f"{int(versions.get(channel, '0')) + 1:032}"
            values[channel] = value(self.random)
            if channel == "messages":  # as a reducer does it: those before stay the same objects
                old = before["channel_values"].get("messages", []) if before else []
                values[channel] = [*old, message(self.random)][-9:]
        put = {**empty_checkpoint(), "v": NOW, "channel_values": values, "channel_versions": versions}
        config = self._config(key, before)
        for saver in self.savers:
            await saver.aput(config, {**put, "channel_values": dict(values)}, {"step": 1}, new)
        self.latest[key] = put

    async def _put_writes(self, key: tuple[str, str]) -> None:
        config = self._config(key, self.latest[key])
        some = [
            (self.random.choice(CHANNELS), value(self.random)) for _ in range(self.random.randrange(1, 4))
        ]
        if self.random.random() < 0.2:
            some = [(self.random.choice(ALONE), value(self.random))]
        task = str(self.random.randrange(3))
        for saver in self.savers:
            await saver.aput_writes(config, some, task)

    def _config(self, key: tuple[str, str], before: Any) -> Any:
        placed = {"thread_id": key[0], "checkpoint_ns": key[1]}
        return {"configurable": placed | ({"checkpoint_id": before["id"]} if before else {})}

    async def same(self) -> None:
        """Each conversation is read, without the id of its latest checkpoint and with it."""
        for key in ((thread, inner) for thread in THREADS for inner in NAMESPACES):
            for config in (self._config(key, None), self._config(key, self.latest.get(key))):
                plain, other = [told(await saver.aget_tuple(config)) for saver in self.savers]
                assert plain == other


@pytest.mark.parametrize("codec", [PLAIN, KEYS], ids=["plain", "encrypted"])
async def test_any_order_of_calls_is_answered_as_langgraph_answers_it(
    storage: Place, codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "EVERY", 1)
    room = Room(storage, codec)
    for seed in range(3):
        async with AsyncExitStack() as stack:
            saver = await stack.enter_async_context(room.stores.checkpointer())
            both = Both(InMemorySaver(), saver, Random(seed))
            for thread in THREADS:
                await saver.adelete_thread(thread)
            for _ in range(STEPS):
                await both.step()
                await both.same()
            await nothing_unnamed(room)
            for thread in THREADS:
                await saver.adelete_thread(thread)
            assert await room.rows("SELECT digest FROM conversation_messages") == []


async def test_tasks_of_a_checkpoint_in_langgraphs_former_form_are_read_with_their_messages(
    storage: Place,
) -> None:
    config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    tasks = [("__pregel_tasks", Send("node", [HumanMessage("first", id="1")]))]
    async with Room(storage).stores.checkpointer() as saver:
        config = await saver.aput(config, {**empty_checkpoint(), "v": NOW}, {"step": 1}, {})
        await saver.aput_writes(config, tasks, "task")
        await saver.aput(config, {**empty_checkpoint(), "v": NOW - 1}, {"step": 2}, {})
        found = await saver.aget_tuple({"configurable": {"thread_id": "t"}})
    held = found.checkpoint["channel_values"].get("__pregel_tasks") if found else None
    assert held == ([tasks[0][1]] if storage.pool is not None else None)  # a file has no such conversations


async def nothing_unnamed(room: Room) -> None:
    """Each stored message is named; in PostgreSQL up to the next deletion of older checkpoints some are not."""
    in_a_file = room.storage.pool is None
    for thread in THREADS:
        named: set[str] = set()
        for table in ("checkpoints", "writes") if in_a_file else ("checkpoint_blobs", "checkpoint_writes"):
            for (kind,) in await room.rows(f"SELECT type FROM {table} WHERE thread_id = '{thread}'"):
                named |= names(kind or "")
        stored = await room.digests(thread)
        assert named <= stored
        assert named == stored or not in_a_file
