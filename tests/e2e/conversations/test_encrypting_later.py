"""`db encrypt`: a service that stored without keys, or with older ones, has nothing of that left, and goes on."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from langchain_core.messages import BaseMessage

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import ask, connected
from tests.e2e.cli.command import Finished, run
from tests.e2e.conversations.asking import asked, files_with
from tests.postgres import PARAMETER, PostgresServer
from utils.persistence.home_lock import only_process_in
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("postgres"),
]

SECRET = "zanzibar-4711"
OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))


@pytest.fixture(params=["sqlite", PARAMETER])
def environ(request: pytest.FixtureRequest) -> dict[str, str]:
    if request.param == "sqlite":
        return {}
    server: PostgresServer = request.getfixturevalue("postgres")
    return {"DATABASE_URL": server.new_database()}


@asynccontextmanager
async def supervisor(home: Path, environ: dict[str, str], says: Any) -> AsyncIterator[str]:
    model = ScriptedModel(script=says)
    async with running_agent(PlatformEngineer, home=home, model=model, environ=environ) as url:
        yield url


def remembered(messages: Sequence[BaseMessage]) -> str:
    return f"You said {SECRET if SECRET in str(messages) else 'nothing'}."


async def encrypt(home: Path, environ: dict[str, str], *options: str) -> Finished:
    return await run("db", "encrypt", "--agent", "supervisor", *options, home=home, **environ)


def hits(home: Path, environ: dict[str, str], request: pytest.FixtureRequest) -> list[str]:
    found = files_with(home, SECRET)
    if "DATABASE_URL" in environ:
        server: PostgresServer = request.getfixturevalue("postgres")
        server.execute("CHECKPOINT", environ["DATABASE_URL"])
        found += files_with(server.files_of(environ["DATABASE_URL"]), SECRET)
    return found


@pytest.mark.long
async def test_what_was_said_before_there_were_keys_is_in_no_file_and_is_remembered(
    tmp_path: Path, environ: dict[str, str], request: pytest.FixtureRequest
) -> None:
    contexts = []
    async with supervisor(tmp_path, environ, ["Noted.", "Noted."]) as url, connected(url) as client:
        for number in range(2):
            contexts.append((await ask(client, f"Note {SECRET} as {number}.")).context_id)
            await asked(client, action="rename", contextId=contexts[-1], title=f"About {SECRET}")
    assert hits(tmp_path, environ, request)

    first = await encrypt(tmp_path, {**environ, "ENCRYPTION_KEYS": OLD}, "--vacuum-full")
    assert first.code == 0, first.err
    counts = re.fullmatch(
        r"platform-engineer: (\d+) encrypted, (\d+) as they should be, 0 unreadable\n", first.out
    )
    assert counts is not None
    total = sum(map(int, counts.groups()))
    line = f"platform-engineer: {total} of {total} values, {counts[1]} encrypted\n"
    assert first.err.count(line) == 1
    assert hits(tmp_path, environ, request) == []

    rotated = {**environ, "ENCRYPTION_KEYS": f"{NEW},{OLD}"}
    second = await encrypt(tmp_path, rotated, "--json")
    told = json.loads(second.out)
    assert (told["encrypted"], told["values"], told["unreadable"]) == (int(counts[1]), total, [])
    third = json.loads((await encrypt(tmp_path, rotated, "--json")).out)
    assert (third["values"], third["encrypted"]) == (total, 0)

    alone = {**environ, "ENCRYPTION_KEYS": NEW}
    async with supervisor(tmp_path, alone, remembered) as url, connected(url) as client:
        for context_id in contexts:
            assert (await ask(client, "What did I say?", context_id=context_id)).text == f"You said {SECRET}."
            exported = await asked(client, action="export", contextId=context_id)
            assert SECRET in str(exported["tasks"])
            assert exported["title"] == f"About {SECRET}"
        assert hits(tmp_path, environ, request) == []


@pytest.mark.long
async def test_a_database_is_encrypted_while_its_agent_runs(postgres: PostgresServer, tmp_path: Path) -> None:
    environ = {"DATABASE_URL": postgres.new_database(), "ENCRYPTION_KEYS": f"{NEW},{OLD}"}
    before = {**environ, "ENCRYPTION_KEYS": OLD}
    async with supervisor(tmp_path, before, ["Noted."]) as url, connected(url) as client:
        context_id = (await ask(client, f"Note {SECRET}.")).context_id
    async with supervisor(tmp_path, environ, remembered) as url, connected(url) as client:
        assert (await ask(client, "And?", context_id=context_id)).text == f"You said {SECRET}."
        done = json.loads((await encrypt(tmp_path, environ, "--json")).out)
        assert done["encrypted"] > 0
        assert (await ask(client, "And?", context_id=context_id)).text == f"You said {SECRET}."


@pytest.mark.long
async def test_the_command_says_what_is_missing(tmp_path: Path) -> None:
    refused = await encrypt(tmp_path, {"ENCRYPTION_KEYS": ""})
    assert refused.code == 2
    assert "ENCRYPTION_KEYS names no key that writes, so nothing can be encrypted." in refused.err
    folder = tmp_path / "platform-engineer"
    folder.mkdir(exist_ok=True)
    async with only_process_in(folder):
        refused = await encrypt(tmp_path, {"ENCRYPTION_KEYS": OLD})
    assert refused.code == 2
    assert "This agent runs already" in refused.err


@pytest.mark.long
async def test_lines_that_were_typed_and_vectors_are_encrypted_as_well(tmp_path: Path) -> None:
    history = tmp_path / "chat_history"
    history.write_text(f"\n# 2026-01-01 00:00:00.000000\n+What is {SECRET}?\n+And more?\n")
    done = await run("db", "encrypt", home=tmp_path, ENCRYPTION_KEYS=OLD)
    assert done.code == 0, done.err
    assert files_with(tmp_path, SECRET) == []
    stored = history.read_bytes()
    assert stored.count(b"encrypted:") == 1
    again = await run("db", "encrypt", home=tmp_path, ENCRYPTION_KEYS=OLD)
    assert (again.code, history.read_bytes()) == (0, stored)
