"""What the turn knows of a change when its storage fails: a change that may have been sent counts, and no other."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from structlog.testing import capture_logs

from agents.github.changes.encrypted import EncryptedJournal
from agents.github.changes.journal import Journal
from tests.unit.github.changing import Conversation, agent_with, question_in, writing
from utils.a2a_common.tasks.begun_effects import BegunEffects
from utils.a2a_common.tasks.statuses import failure_of
from utils.errors import StorageError, StorageFull
from utils.events import Completed, Failed
from utils.testing.scripted_model import ScriptedModel


@pytest.fixture
async def asked(tmp_path: Path, github):
    """Makes a conversation in which a comment was asked for."""
    made = []

    async def make() -> Conversation:
        model = ScriptedModel(script=[writing(), "So it is."])
        chat = Conversation(agent_with(tmp_path, github.url, model, InMemorySaver()), model)
        made.append(chat)
        question_in(await chat.ask("Comment on issue 5"))
        return chat

    yield make
    for chat in made:
        await chat.agent.stop()


def turn() -> BegunEffects:
    """The account of a new turn of this test."""
    effects = BegunEffects()
    effects.enter()
    return effects


async def fill(chat: Conversation) -> None:
    """Let the file of the journal take no page more than it has."""
    encrypting = chat.agent._sender.journal
    assert isinstance(encrypting, EncryptedJournal)
    journal = encrypting._inner
    assert isinstance(journal, Journal)

    def write(connection: Any) -> None:
        connection.execute("CREATE TABLE rest (content BLOB)")
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")
        connection.execute(
            "CREATE TRIGGER grown BEFORE UPDATE ON changes BEGIN INSERT INTO rest VALUES (zeroblob(100000)); END"
        )

    await journal._database.write(write)


async def test_a_change_that_was_sent_counts_when_the_rest_of_its_turn_is_lost(asked) -> None:
    chat, effects = await asked(), turn()
    assert isinstance((await chat.answer("yes"))[-1], Completed)
    assert effects.tools == ["comment_on_issue"]
    told = failure_of(StorageFull())
    assert (told.code, told.retryable) == ("unknown_outcome", False)
    assert "Check before you ask again" in told.message


async def test_a_change_that_the_user_declines_does_not_count(asked) -> None:
    chat, effects = await asked(), turn()
    assert isinstance((await chat.answer("no"))[-1], Completed)
    assert effects.tools == []


async def test_a_change_whose_beginning_cannot_be_noted_is_not_sent_and_does_not_count(asked, github) -> None:
    chat, effects = await asked(), turn()
    await fill(chat)
    ended = (await chat.answer("yes"))[-1]
    assert isinstance(ended, Failed)
    assert ended.code == "storage_full"
    assert effects.tools == []
    assert github.recorder.changes() == []


@pytest.mark.parametrize("error", [StorageFull(), StorageError("The database failed.")], ids=["full", "lost"])
async def test_a_change_that_github_confirmed_is_told_as_sent_where_the_journal_cannot_take_that(
    asked, github, monkeypatch: pytest.MonkeyPatch, error: StorageError
) -> None:
    chat, effects = await asked(), turn()

    async def settle(*_: object) -> None:
        raise error

    monkeypatch.setattr(chat.agent._sender.journal, "settle", settle)
    with capture_logs() as lines:
        await chat.answer("yes")
    assert chat.last_result()["item"]["state"] == "sent"
    assert len(github.recorder.changes()) == 1
    assert effects.tools == ["comment_on_issue"]
    assert [line["event"] for line in lines if "settled" in line["event"]] == ["github.change_not_settled"]


async def test_a_turn_that_was_told_as_failed_sends_no_change_any_more(asked, github) -> None:
    chat, effects = await asked(), turn()
    effects.over = StorageFull()
    await chat.answer("yes")
    assert github.recorder.changes() == []


async def test_an_earlier_change_with_an_unknown_outcome_counts_when_its_call_runs_again(
    asked, github
) -> None:
    chat = await asked()
    entry, _ = await chat.agent._sender.journal.ask(await only_entry(chat))
    assert await chat.agent._sender.journal.intend(entry)  # here the process is killed
    effects = turn()
    ended = (await chat.answer("yes"))[-1]
    assert isinstance(ended, Failed)
    assert ended.code == "unknown_outcome"
    assert effects.tools == ["comment_on_issue"]
    assert github.recorder.changes() == []


async def only_entry(chat: Conversation) -> Any:
    from tests.unit.github.test_changes import _entries

    (entry,) = [row async for row in _entries(chat)]
    return entry


async def test_a_turn_that_is_stopped_while_github_is_told_of_a_change_says_that_its_outcome_is_unknown(
    tmp_path: Path, github
) -> None:
    arguments: dict[str, Any] = {"owner": "faulty", "repo": "slow", "number": 5, "body": "Hello"}
    model = ScriptedModel(script=[writing(**arguments)])
    chat = Conversation(agent_with(tmp_path, github.url, model, InMemorySaver()), model)
    question_in(await chat.ask("Comment"))
    effects = turn()
    answering = asyncio.create_task(chat.answer("yes"))
    async with asyncio.timeout(60):
        while not github.recorder.changes():
            await asyncio.sleep(0.01)
    answering.cancel()
    await asyncio.gather(answering, return_exceptions=True)
    await chat.agent.stop()
    assert effects.cut == ["comment_on_issue"]
