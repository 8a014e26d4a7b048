"""With keys no file of any agent holds a word of a conversation, while it goes on and after a restart."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import GetTaskRequest
from a2a.utils.errors import InternalError
from cryptography.fernet import Fernet

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.cli.command import run
from tests.e2e.cli.terminal import terminal
from tests.e2e.conversations.asking import asked, files_with
from tests.e2e.conversations.test_commands import client_url
from tests.e2e.conversations.test_deleting import finding
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.errors import SettingsError
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]

SECRET = "zanzibar-4711"
LONG = " ".join(f"word{number}" for number in range(3_000))
OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))


@asynccontextmanager
async def service(home: Path, keys: str, *, again: bool = False) -> AsyncIterator[Client]:
    """The supervisor before an agent of ours, with these keys; the second time its model only repeats what was said."""
    environ: Mapping[str, str] = {"ENCRYPTION_KEYS": keys} if keys else {}
    below = ScriptedModel(script=[calls(call("lookup", key=SECRET)), f"{SECRET} is 1. {LONG}"])
    says = [calls(call("keys", request=f"the value of {SECRET}")), f"{SECRET} is 1. {LONG}"]
    model = ScriptedModel(script=[f"I said {SECRET} before."] if again else says)
    async with running_agent(Keys, home=home, model=below, environ=environ) as url:
        above = {**environ, "SUB_AGENTS": f"keys={url}", "SUB_AGENTS_TRUST": "keys=own"}
        async with (
            running_agent(PlatformEngineer, home=home, model=model, environ=above) as top,
            connected(top) as client,
        ):
            yield client
            if again:
                assert any(SECRET in str(message.content) for message in model.requests[-1].messages)


async def tell(home: Path, keys: str) -> str:
    """Have a turn with a delegation; the conversation's id."""
    async with service(home, keys) as client:
        reply = await ask(client, f"What is {SECRET}? {LONG}")
        assert SECRET in reply.text
        await asked(client, action="rename", contextId=reply.context_id, title=f"About {SECRET}")
        (listed,) = (await asked(client, action="list"))["conversations"]
        assert listed["title"] == f"About {SECRET}"
        if keys:
            assert files_with(home, SECRET) == []
        return reply.context_id


async def test_with_a_key_no_file_of_any_agent_holds_a_word_and_a_restart_goes_on(tmp_path: Path) -> None:
    context_id = await tell(tmp_path, OLD)
    assert files_with(tmp_path, SECRET) == []
    async with service(tmp_path, f"{NEW},{OLD}", again=True) as client:
        exported = await asked(client, action="export", contextId=context_id)
        assert SECRET in str(exported["tasks"])
        assert exported["title"] == f"About {SECRET}"
        assert SECRET in (await ask(client, "What did I ask?", context_id=context_id)).text
        assert files_with(tmp_path, SECRET) == []
    assert files_with(tmp_path, SECRET) == []


async def test_a_conversation_from_before_the_first_key_goes_on(tmp_path: Path) -> None:
    context_id = await tell(tmp_path, "")
    assert files_with(tmp_path, SECRET)
    async with service(tmp_path, OLD, again=True) as client:
        assert SECRET in (await ask(client, "What did I ask?", context_id=context_id)).text


async def test_the_terminal_encrypts_its_lines_and_forgets_those_of_a_deleted_conversation(
    tmp_path: Path,
) -> None:
    environ = {"ENCRYPTION_KEYS": OLD}
    mine = tmp_path / "mine"
    mine.mkdir()
    async with (
        running_agent(Keys, home=tmp_path / "home", model=finding(SECRET), environ=environ) as url,
        connected(url) as client,
    ):
        async with terminal("chat", "--url", client_url(client), home=mine, **environ) as screen:
            await screen.asks()
            screen.type(f"What is {SECRET}?\r")
            await screen.shows("is 1.")
            await screen.asks()
        (history,) = mine.rglob("chat_history")
        assert files_with(tmp_path, SECRET) == []
        rotated = {"ENCRYPTION_KEYS": f"{NEW},{OLD}"}
        async with terminal("chat", "--url", client_url(client), home=mine, **rotated) as screen:
            await screen.asks()
            screen.type("\x1b[A")
            await screen.shows(f"What is {SECRET}?")
        stored = history.read_bytes()
        assert stored.count(b"encrypted:") == 1
        (listed,) = (await asked(client, action="list"))["conversations"]
        command = ("conversations", "delete", listed["contextId"], "--url", client_url(client), "--yes")
        assert (await run(*command, home=mine, **rotated)).code == 0
        assert b"encrypted:" not in history.read_bytes()


async def test_a_key_that_is_gone_is_told_in_a_sentence(tmp_path: Path) -> None:
    context_id = await tell(tmp_path, OLD)
    with pytest.raises(SettingsError, match="ENCRYPTION_KEYS is not set"):
        async with service(tmp_path, ""):
            pass
    with pytest.raises(SettingsError, match="none of the keys in ENCRYPTION_KEYS reads it"):
        async with service(tmp_path, NEW):
            pass
    async with service(tmp_path, f"{NEW},{OLD}", again=False):
        pass
    async with service(tmp_path, NEW) as client:  # the rows of the first start are still under the old key
        reply = await ask(client, "What did I ask?", context_id=context_id)
        assert reply.state == "failed"
        assert "encrypted with a key that this agent does not have any more" in reply.last_words
        assert "Traceback" not in reply.last_words
        (listed,) = (await asked(client, action="list"))["conversations"]
        assert (listed["contextId"], listed["title"]) == (context_id, "")


async def test_what_somebody_copies_in_the_storage_is_refused_with_a_sentence_and_a_code(
    tmp_path: Path,
) -> None:
    first = await tell(tmp_path, OLD)
    async with service(tmp_path, OLD) as client:
        second = await ask(client, "What is new?")
    folder = tmp_path / PlatformEngineer.name
    with closing(sqlite3.connect(folder / "tasks.sqlite")) as db, db:
        found = dict(db.execute("SELECT context_id, id FROM tasks").fetchall())
        copied = "UPDATE tasks SET body = (SELECT body FROM tasks WHERE id = ?) WHERE id = ?"
        db.execute(copied, (found[first], found[second.context_id]))
    with closing(sqlite3.connect(folder / "checkpoints.sqlite")) as db, db:
        threads = db.execute(
            "SELECT thread_id FROM checkpoints GROUP BY thread_id ORDER BY min(rowid)"
        ).fetchall()
        for table in ("checkpoints", "writes", "conversation_messages"):
            db.execute(f"DELETE FROM {table} WHERE thread_id = ?", threads[1])
            db.execute(f"UPDATE {table} SET thread_id = ? WHERE thread_id = ?", (*threads[1], *threads[0]))
    async with service(tmp_path, OLD) as client:
        reply = await ask(client, "What did I say?", context_id=second.context_id)
        assert reply.state == "failed"
        assert reply.last_words.startswith("What is needed is not shown: it was stored for another place")
        (told,) = reply.metadata(ERROR_EXTENSION)
        assert told["code"] == "storage_misplaced"
        with pytest.raises(InternalError, match="not shown"):
            await client.get_task(GetTaskRequest(id=found[second.context_id]))
        listed = await asked(client, action="list")
        assert SECRET not in str([each for each in listed["conversations"] if each["contextId"] != first])
