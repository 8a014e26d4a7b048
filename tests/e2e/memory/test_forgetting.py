"""What is forgotten, or leaves with its conversation, is in no file; what is kept is encrypted where that is set."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from tests.e2e.agents.peers import ask
from tests.e2e.conversations.asking import asked as asked_conversations
from tests.e2e.conversations.asking import files_with
from tests.e2e.memory.house import Brain, asked, fact, house, idle, texts
from tests.postgres import PARAMETER, PostgresServer
from utils.persistence.memories import SqliteMemories
from utils.testing.strict_provider import Reply, run_strict_provider

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.xdist_group("postgres"),
    pytest.mark.timeout(300),
]

SECRET = "zanzibar-4711"
SAID = f"I work in {SECRET}. Please look at the deploy."
TAUGHT = {SECRET: [fact(f"I work in {SECRET}.")]}


@pytest.fixture(params=["sqlite", PARAMETER])
def store(request: pytest.FixtureRequest) -> dict[str, str]:
    if request.param == "sqlite":
        return {}
    server: PostgresServer = request.getfixturevalue("postgres")
    return {"DATABASE_URL": server.new_database()}


async def test_a_deleted_conversation_takes_what_it_alone_taught(
    tmp_path: Path, store: dict[str, str]
) -> None:
    notes = TAUGHT | {"Python": [fact("I write Python.")]}
    with run_strict_provider(Brain(notes=notes)) as double:
        async with house(tmp_path, double.environment("openai") | store) as service:
            ann = await service.person("ann")
            first = await ask(ann, SAID)
            await idle()
            both = "I write Python. Please go on."
            await ask(ann, both, context_id=first.context_id)
            await idle()
            await ask(ann, both)
            await idle()
            assert await texts(ann) == [f"I work in {SECRET}.", "I write Python."]
            await asked_conversations(ann, action="delete", contextId=first.context_id)
            assert await texts(ann) == ["I write Python."]
            assert len(await texts(ann, "conversation")) == 1
            assert files_with(tmp_path / "data", SECRET) == []


async def test_what_is_forgotten_is_in_no_file_once_its_conversation_is_deleted(tmp_path: Path) -> None:
    with run_strict_provider(Brain(notes=TAUGHT)) as double:
        async with house(tmp_path, double.environment("openai")) as service:
            ann = await service.person("ann")
            first = await ask(ann, SAID)
            await idle()
            memory = "platform-engineer/memories.sqlite"
            assert any(name.startswith(memory) for name in files_with(tmp_path / "data", SECRET))
            (kept,) = [each for each in await asked(ann, action="list") if each["kind"] == "fact"]
            bob = await service.person("bob")
            with pytest.raises(Exception, match="no such memory"):
                await asked(bob, action="forget", id=kept["id"])
            await asked(ann, action="forget", id=kept["id"])
            assert await asked(ann, action="list") == []
            assert not any(name.startswith(memory) for name in files_with(tmp_path / "data", SECRET))
            await asked_conversations(ann, action="delete", contextId=first.context_id)
            assert files_with(tmp_path / "data", SECRET) == []


async def test_a_cleared_conversation_taught_nothing(tmp_path: Path) -> None:
    from tests.e2e.context.test_clearing import clear

    with run_strict_provider(Brain(notes=TAUGHT)) as double:
        async with house(tmp_path, double.environment("openai")) as service:
            ann = await service.person("ann")
            first = await ask(ann, SAID)
            await idle()
            assert f"I work in {SECRET}." in await texts(ann)
            await clear(ann, first.context_id)
            assert await asked(ann, action="list") == []


async def test_a_conversation_that_is_deleted_while_it_is_learnt_from_teaches_nothing(tmp_path: Path) -> None:
    brain = Brain(notes=TAUGHT)
    with run_strict_provider(brain) as double:
        async with house(tmp_path, double.environment("openai")) as service:
            ann = await service.person("ann")
            brain.may_answer.clear()
            first = await ask(ann, SAID)
            assert await asyncio.to_thread(brain.asked.wait, 20)
            await asked_conversations(ann, action="delete", contextId=first.context_id)
            brain.may_answer.set()
            await idle()
            assert await asked(ann, action="list") == []
            assert files_with(tmp_path / "data", SECRET) == []


async def test_with_a_key_no_file_holds_a_word_of_what_is_remembered(
    tmp_path: Path, request: pytest.FixtureRequest, store: dict[str, str]
) -> None:
    keys = {"ENCRYPTION_KEYS": Fernet.generate_key().decode()}
    with run_strict_provider(Brain(notes=TAUGHT)) as double:
        environ = double.environment("openai") | store | keys
        async with house(tmp_path, environ) as service:
            await ask(await service.person("ann"), SAID)
            await idle()
        folders = [tmp_path / "data"]
        if store:
            server: PostgresServer = request.getfixturevalue("postgres")
            server.execute("CHECKPOINT", store["DATABASE_URL"])
            folders.append(server.files_of(store["DATABASE_URL"]))
        assert [name for folder in folders for name in files_with(folder, SECRET)] == []
        async with house(tmp_path, environ) as service:
            assert await texts(await service.person("ann")) == [f"I work in {SECRET}."]


async def test_without_a_model_key_what_is_asked_for_is_remembered_and_found(tmp_path: Path) -> None:
    async with house(tmp_path, {}) as service:
        ann = await service.person("ann")
        await asked(ann, action="add", text=f"My team works in {SECRET}.")
        await ask(ann, "What do the documents say about harbours?")
        await idle()
        found = await asked(ann, action="search", text="Where does my team work?")
        assert found[0]["text"] == f"My team works in {SECRET}."
        assert "What do the documents say about harbours?" in await texts(ann, "conversation")


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from utils.memory.store import LongTermStore
from utils.persistence.memories import SqliteMemories

async def main():
    memories = SqliteMemories(Path(sys.argv[1]))
    await memories.open()
    await LongTermStore(memories).keep("ann", "facts", "m", {"text": "kept"}, "t")
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_a_killed_process_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    file = tmp_path / "memories.sqlite"
    ended = subprocess.run([sys.executable, "-c", KILLED, str(file)], check=False)
    assert ended.returncode == -9
    memories = SqliteMemories(file)
    await memories.open()
    assert [row.body for row in await memories.all_of("ann")] == [b'{"value": {"text": "kept"}}']
    await memories.close()


async def test_a_long_conversation_costs_few_summaries_and_a_short_one_none(tmp_path: Path) -> None:
    long = "I look after the harbour and its cranes, and I write down what breaks. " * 8
    with run_strict_provider(Brain(says=[Reply("Done.")])) as double:
        async with house(tmp_path, double.environment("openai")) as service:
            ann = await service.person("ann")
            first = await ask(ann, "I look after the harbour.")
            await idle()
            summaries = [each for each in double.requests if "<transcript>" in str(each.messages)]
            assert summaries == []
            for _ in range(6):
                await ask(ann, long, context_id=first.context_id)
                await idle()
            summaries = [each for each in double.requests if "<transcript>" in str(each.messages)]
            assert 2 <= len(summaries) <= 5
            assert len(await texts(ann, "conversation")) == 1


async def test_with_storage_in_memory_it_is_known_until_the_process_ends_and_no_file_holds_it(
    tmp_path: Path,
) -> None:
    with run_strict_provider(Brain(notes=TAUGHT)) as double:
        async with house(tmp_path, double.environment("openai") | {"STORE": "memory"}) as service:
            ann = await service.person("ann")
            await ask(ann, SAID)
            await idle()
            assert await texts(ann) == [f"I work in {SECRET}."]
            assert files_with(tmp_path / "data", SECRET) == []
            (kept,) = [each for each in await asked(ann, action="list") if each["kind"] == "fact"]
            await asked(ann, action="forget", id=kept["id"])
            assert await asked(ann, action="list") == []


async def test_a_limit_of_what_is_stored_deletes_the_oldest_conversations_with_what_they_taught(
    tmp_path: Path,
) -> None:
    limits = {"RETENTION_MEMORIES_MB": "0.001", "RETENTION_LOOK_SECONDS": "1"}
    with run_strict_provider(Brain(notes=TAUGHT)) as double:
        async with house(tmp_path, double.environment("openai") | limits) as service:
            ann = await service.person("ann")
            await ask(ann, SAID)
            await idle()
            async with asyncio.timeout(60):
                while (await asked_conversations(ann, action="list"))["conversations"]:
                    await asyncio.sleep(0.05)
            assert await asked(ann, action="list") == []
