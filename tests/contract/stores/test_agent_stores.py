"""What an agent keeps besides tasks, in files and in PostgreSQL: contexts, delegations, cards, texts, webhooks, changes, conversations."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from a2a.types.a2a_pb2 import ListTaskPushNotificationConfigsRequest, TaskPushNotificationConfig
from cryptography.fernet import Fernet
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import MessagesState, StateGraph

from agents.github.authorisation.grant import Cipher, Grant, SignIn, Unreadable
from agents.github.authorisation.store import FileGrants, Grants
from agents.github.authorisation.store_postgres import PostgresGrants
from agents.github.changes.encrypted import EncryptedJournal
from agents.github.changes.journal import DONE, UNKNOWN, Entry, Journal
from agents.github.changes.journal_postgres import PostgresJournal
from agents.github.changes.sender import Book
from tests.postgres import ENCRYPTED, PARAMETER
from utils.a2a_common.handler.webhook_pages import page_of
from utils.a2a_common.server.push.store import PushConfigs, SqlitePushConfigs
from utils.a2a_common.server.push.store_postgres import PostgresPushConfigs
from utils.auth.device_flow import DeviceCode, Tokens
from utils.encryption.codec import PLAIN, Codec
from utils.persistence.contexts import Person
from utils.persistence.delegations import (
    ABANDONED,
    COMPLETED,
    WAITING,
    WORKING,
    DelegationRecord,
)
from utils.persistence.memories import MemoryRow
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.sqlite_file import MemoryFolder, SqliteFolder
from utils.persistence.stores import Stores, stores_in

ODD = "zero \x00 byte, half a pair \ud800, emoji 🙂"
"""A text that a file, a page or a model may hold."""


KEY = Fernet.generate_key().decode()


@dataclass
class Kept:
    """The stores of one agent."""

    home: SqliteFolder
    pool: PostgresPool | None = None
    codec: Codec = PLAIN

    @property
    def stores(self) -> Stores:
        return stores_in(self.home, self.pool, self.codec)

    def journal(self) -> Book:
        file = self.home / "changes.sqlite"
        plain = Journal(file) if self.pool is None else PostgresJournal(self.pool)
        return EncryptedJournal(plain, self.codec)

    def grants(self, *keys: str) -> Grants:
        cipher = Cipher(keys)
        return (
            FileGrants(self.home / "grants.sqlite", cipher)
            if self.pool is None
            else PostgresGrants(self.pool, cipher)
        )

    def push_configs(self) -> PushConfigs:
        if self.pool is None:
            return SqlitePushConfigs(self.home / "push.sqlite", self.codec)
        return PostgresPushConfigs(self.pool, self.codec)


@pytest.fixture(params=["sqlite", "sqlite-encrypted", "memory", PARAMETER, ENCRYPTED])
async def kept(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kept]:
    async with AsyncExitStack() as stack:
        codec = Codec([KEY]) if "encrypted" in request.param else PLAIN
        if "sqlite" in request.param:
            yield Kept(tmp_path, codec=codec)
            return
        if request.param == "memory":
            folder = MemoryFolder()
            stack.callback(folder.close)
            yield Kept(folder)
            assert list(tmp_path.iterdir()) == []
            return
        pool = await stack.enter_async_context(request.getfixturevalue("postgres").opened())
        pool.alone = True
        yield Kept(tmp_path, pool, codec)


async def opened(store: Any, stack: AsyncExitStack) -> Any:
    await store.open()
    stack.push_async_callback(store.close)
    return store


async def test_a_remote_context_is_the_same_until_it_is_cleared(kept: Kept) -> None:
    async with AsyncExitStack() as stack:
        contexts = await opened(kept.stores.contexts(), stack)
        first = await contexts.use("mine", "keys", Person())
        assert await contexts.use("mine", "keys", Person()) == first
        assert await contexts.use("other", "keys", Person()) != first
        await contexts.put("mine", "keys", "given by the agent")
        assert await contexts.use("mine", "keys", Person()) == "given by the agent"
        assert await contexts.clear("mine") == {"keys": "given by the agent"}
        assert await contexts.use("mine", "keys", Person()) not in {first, "given by the agent"}
        await contexts.delete("mine")
        assert await contexts.use("mine", "keys", Person()) == first


async def test_a_conversation_stays_that_of_its_person_until_it_is_deleted(kept: Kept) -> None:
    async with AsyncExitStack() as stack:
        contexts = await opened(kept.stores.contexts(), stack)
        assert await contexts.person("mine") == Person()
        ann = Person("https://login.example.com ann", "acme")
        await contexts.use("mine", "keys", ann)
        await contexts.use("mine", "docs", Person("https://login.example.com bob"))
        await contexts.clear("mine")
        assert await contexts.person("mine") == ann
        await contexts.delete("mine")
        assert await contexts.person("mine") == Person()


async def test_what_a_user_authorised_at_github_is_encrypted_and_of_no_use_under_another_key(
    kept: Kept,
) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    grant = Grant(Tokens("gho_secret", "ghr_secret", 5.0), "ann")
    code = DeviceCode("ABCD-1234", "https://github.com/login/device", "of the device", 9.0, 5.0)
    async with AsyncExitStack() as stack:
        grants = await opened(kept.grants(old), stack)
        assert await grants.grant("ann") is await grants.sign_in("call") is None
        await grants.keep("ann", grant)
        await grants.put(SignIn("call", "thread", 1))
        await grants.put(SignIn("call", "thread", 2, code))
        assert await grants.grant("ann") == grant
        assert await grants.sign_in("call") == SignIn("call", "thread", 2, code)
        assert "secret" not in repr(await grants.grant("ann"))
        rotated = await opened(kept.grants(new, old), stack)
        assert await rotated.grant("ann") == grant
        await rotated.keep("ann", grant)
        with pytest.raises(Unreadable):
            await grants.grant("ann")
        if isinstance(kept.home, Path) and kept.pool is None:
            assert not any(b"secret" in file.read_bytes() for file in kept.home.iterdir())
        await grants.delete("thread")
        assert await grants.sign_in("call") is None
        assert (await rotated.forget("ann"), await rotated.forget("ann")) == (True, False)


def delegation(name: str, *, task: str = "task", state: str = WORKING) -> DelegationRecord:
    return DelegationRecord(name, task, "thread", "keys", "c1", "s1", ODD, "there", state=state)


async def test_delegations_come_back_whole_in_order_and_are_ended_with_their_task(kept: Kept) -> None:
    async with AsyncExitStack() as stack:
        store = await opened(kept.stores.delegations(), stack)
        if kept.pool is None and not kept.codec.on:
            asked = replace(delegation("b"), request="What is b?")
        else:
            asked = delegation("b")
        asked = replace(asked, sent=2, questions=({"question": "Which?"},), counted={"keys": {"input": 3}})
        await store.put(asked)
        await store.put(replace(delegation("a", state=COMPLETED), request="a"))
        await store.put(replace(delegation("c", task="other", state=WAITING), request="c"))
        assert await store.get("b") == replace(asked, request=asked.request.replace("\ud800", "?"))
        assert [one.id for one in await store.of_task("task")] == ["b", "a"]
        await store.put(replace(delegation("d", task="other", state=WAITING), request="d", agent="words"))
        assert [one.id for one in await store.unanswered("thread", "keys")] == ["b", "c"]
        assert [(one.id, one.state) for one in await store.abandon("task")] == [("b", ABANDONED)]
        assert [one.id for one in await store.abandoned("keys")] == ["b"]
        assert await store.of_task("task") == []
        await store.remove("b")
        await store.delete("thread")
        assert await store.get("b") is await store.get("c") is None


async def test_cards_are_replaced_by_their_address(kept: Kept) -> None:
    async with AsyncExitStack() as stack:
        cards = await opened(kept.stores.cards(), stack)
        await cards.put("http://a", '{"name": "old"}')
        await cards.put("http://a", '{"name": "Zoë"}')
        assert await cards.all() == {"http://a": '{"name": "Zoë"}'}


async def test_texts_of_any_characters_come_back_to_their_own_conversation_only(kept: Kept) -> None:
    artifacts = kept.stores.artifacts()
    await artifacts.put("mine", {"h1": ODD, "h2": "two"})
    await artifacts.put("mine", {"h1": "the first one stays"})
    await artifacts.put("mine", {})
    assert await artifacts.get("mine", "h1") == ODD.replace("\ud800", "?")
    assert await artifacts.get("other", "h1") is None
    assert await artifacts.delete_scope("mine") == 2
    assert await artifacts.get("mine", "h1") is None


async def test_webhooks_and_what_was_sent_to_them_outlive_the_process(kept: Kept) -> None:
    for number in range(3):
        async with AsyncExitStack() as stack:
            configs = await opened(kept.push_configs(), stack)
            if number == 0:
                for name in ("w1", "w2"):
                    config = TaskPushNotificationConfig(id=name, url=f"http://{name}", token="t")
                    await configs.put("t", "ann", config, after=0)
                return_to = configs.webhooks("t", "ann")[0]
                await configs.note_sent(return_to, 7)
            elif number == 1:
                assert {(w.config.id, w.sent) for w in configs.webhooks("t", "ann")} == {("w1", 7), ("w2", 0)}
                assert configs.unfinished() == [("t", "ann")]
                for webhook in configs.webhooks("t", "ann"):
                    await configs.note_sent(webhook, None)
                await configs.delete("t", "ann", "w2")
            else:
                assert [config.url for config in configs.of_task("t", "ann")] == ["http://w1"]
                assert configs.of_task("t", "bob") == []
                assert configs.unfinished() == []


async def test_pages_of_webhooks_miss_and_repeat_nothing_though_each_is_read_by_another_process(
    kept: Kept,
) -> None:
    names = [f"w{number}" for number in range(7)]
    async with AsyncExitStack() as stack:
        configs = await opened(kept.push_configs(), stack)
        for name in (*names[3:], *reversed(names[:3])):
            config = TaskPushNotificationConfig(id=name, url=f"http://{name}", token="t")
            await configs.put("t", "ann", config, after=0)
    seen: list[list[str]] = []
    token = ""
    while token or not seen:
        asked = ListTaskPushNotificationConfigsRequest(task_id="t", page_size=3, page_token=token)
        async with AsyncExitStack() as stack:
            configs = await opened(kept.push_configs(), stack)
            page = page_of(configs.of_task("t", "ann"), asked)
            await configs.delete("t", "ann", page.configs[-1].id)  # the place where the next page begins
        seen.append([each.id for each in page.configs])
        token = page.next_page_token
    assert seen == [names[:3], names[3:6], names[6:]]


async def test_a_change_is_sent_once_and_told_where_its_outcome_is_unknown(kept: Kept) -> None:
    entry = Entry("key", "thread", "task", "digest", "a comment")
    async with AsyncExitStack() as stack:
        journal = await opened(kept.journal(), stack)
        assert await journal.ask(entry) == (entry, True)
        assert await journal.ask(replace(entry, what="another")) == (entry, False)
        assert not await journal.intend(replace(entry, task_id="other"))
        assert await journal.intend(entry)
        assert not await journal.intend(entry)
    async with AsyncExitStack() as stack:  # killed while it was being sent
        journal = await opened(kept.journal(), stack)
        assert await journal.unknown_with("digest")
        assert await journal.unreported("thread") == [replace(entry, state=UNKNOWN)]
        await journal.mark_reported("key")
        assert await journal.unreported("thread") == []
        await journal.settle("key", DONE, "http://there")
        assert (await journal.ask(entry))[0] == replace(entry, state=DONE, link="http://there")
        assert not await journal.unknown_with("digest")
        await journal.delete("thread")
        assert (await journal.ask(entry))[1]


CONVERSATION: RunnableConfig = {"configurable": {"thread_id": "t"}}


async def answer(state: MessagesState) -> dict[str, Any]:
    return {"messages": [AIMessage(f"answer {len(state['messages'])} {ODD[:6]}\x00")]}


async def turns(saver: Any, number: int, thread: str = "t") -> Any:
    """Have so many turns; the messages afterwards."""
    graph = StateGraph(MessagesState).add_node("model", answer).set_entry_point("model")
    compiled = graph.compile(checkpointer=saver)
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    for _ in range(number):
        await compiled.ainvoke({"messages": [HumanMessage("Go on.")]}, config, durability="sync")
    return (await compiled.aget_state(config)).values["messages"]


async def test_a_conversation_goes_on_and_keeps_its_latest_checkpoints_only(kept: Kept) -> None:
    async with kept.stores.checkpointer() as saver:
        await turns(saver, 12)
    async with kept.stores.checkpointer() as saver:
        messages = await turns(saver, 1)
        assert len(messages) == 26
        assert messages[-1].content == f"answer 25 {ODD[:6]}\x00"
        stored = [each async for each in saver.alist(CONVERSATION)]
        assert 1 <= len(stored) <= 4
        await turns(saver, 1, "other")
        await saver.adelete_thread("t")
        assert await saver.aget_tuple(CONVERSATION) is None
        assert len(await turns(saver, 1, "other")) == 4


async def test_a_change_that_an_earlier_version_asked_about_is_found_again(kept: Kept) -> None:
    async with AsyncExitStack() as stack:
        journal = await opened(kept.journal(), stack)
        asked, new = await journal.ask(Entry("former", "thread", "task", "digest", "a comment"))
        assert new
        again = Entry("key", "thread", "task", "digest", "a comment", former="former")
        assert await journal.ask(again) == (asked, False)
        assert await journal.ask(replace(again, former="of nothing")) == (replace(asked, key="key"), True)


async def test_a_memory_leaves_with_the_last_conversation_that_told_it(kept: Kept) -> None:
    memories = kept.stores.memories()
    await memories.open()
    one, both = MemoryRow("ann", "facts", "one", b"a", 1, 1), MemoryRow("ann", "facts", "both", b"b", 2, 2)
    theirs = MemoryRow("bob", "facts", "one", b"c", 1, 1)
    for row, sources in ((one, ["t1"]), (both, ["t1"]), (both, ["t2"]), (theirs, ["t3"])):
        await memories.put(row, sources)
    assert await memories.owners() == [("ann", "facts"), ("bob", "facts")]
    assert await memories.remove_learnt("t1") == 1
    assert await memories.all_of("ann") == [both]
    assert await memories.remove_learnt("t1") == 0
    assert await memories.remove_learnt("t2") == 1
    assert await memories.all_of("ann") == []
    assert await memories.all_of("bob") == [theirs]
    await memories.close()


async def test_a_memory_that_is_learnt_again_keeps_when_it_was_learnt_first_and_is_forgotten_as_one(
    kept: Kept,
) -> None:
    memories = kept.stores.memories()
    await memories.open()
    await memories.put(MemoryRow("ann", "facts", "m", b"old", 1, 1), ["t1"])
    await memories.put(MemoryRow("ann", "facts", "m", b"new", 2, 2), ["t2"])
    assert await memories.get("ann", "facts", "m") == MemoryRow("ann", "facts", "m", b"new", 1, 2)
    assert await memories.get("bob", "facts", "m") is None
    await memories.remove("ann", "facts", "m")
    await memories.put(MemoryRow("ann", "facts", "m", b"again", 3, 3), ["t3"])
    assert await memories.remove_learnt("t3") == 1, "the sources of what was forgotten are gone with it"
    await memories.close()
