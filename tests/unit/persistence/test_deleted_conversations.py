"""What the stores besides the task log delete of a conversation."""

from __future__ import annotations

from pathlib import Path

from agents.github.changes.journal import UNKNOWN, Entry, Journal
from utils.persistence.contexts import Person, RemoteContexts
from utils.persistence.delegations import ABANDONED, WAITING, DelegationRecord, DelegationStore


def delegation(name: str, thread_id: str, state: str) -> DelegationRecord:
    return DelegationRecord(
        name, f"task of {name}", thread_id, "keys", "c1", "s1", "What is a?", "there", state=state
    )


async def test_delegations_in_every_state_go_and_those_of_others_stay(tmp_path: Path) -> None:
    store = DelegationStore(tmp_path / "errands.sqlite")
    await store.open()
    for name, thread_id, state in (("a", "mine", WAITING), ("b", "mine", ABANDONED), ("c", "other", WAITING)):
        await store.put(delegation(name, thread_id, state))
    await store.delete("mine")
    assert [await store.get(name) is not None for name in "abc"] == [False, False, True]
    await store.close()


async def test_a_thread_whose_contexts_are_deleted_begins_with_its_first_ones_again(tmp_path: Path) -> None:
    contexts = RemoteContexts(tmp_path / "contexts.sqlite")
    await contexts.open()
    first = await contexts.use("mine", "keys", Person())
    await contexts.put("mine", "keys", "given by the agent")
    await contexts.put("other", "keys", "kept")
    await contexts.clear("mine")
    await contexts.delete("mine")
    assert await contexts.use("mine", "keys", Person()) == first
    assert await contexts.use("other", "keys", Person()) == "kept"
    await contexts.close()


async def test_the_changes_of_a_conversation_go(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "changes.sqlite")
    for key, thread_id in (("a", "mine"), ("b", "other")):
        await journal.ask(Entry(key, thread_id, f"task {key}", "digest", "Close issue 1"))
    await journal.delete("mine")
    asked_again = [(await journal.ask(Entry(key, "x", "t", "digest", "Close issue 1")))[1] for key in "ab"]
    assert asked_again == [True, False]
    await journal.close()


async def test_of_a_change_with_an_unknown_outcome_the_digest_alone_stays(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "changes.sqlite")
    entry = Entry("a", "mine", "task", "digest", "Close zanzibar")
    await journal.ask(entry)
    await journal.intend(entry)
    await journal.settle("a", UNKNOWN)
    await journal.delete("mine")
    assert await journal.unknown_with("digest")
    assert await journal.unreported("mine") == []
    await journal.close()
    assert b"zanzibar" not in (tmp_path / "changes.sqlite").read_bytes()
