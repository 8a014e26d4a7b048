"""With keys neither the tables' files nor the write-ahead log of PostgreSQL hold a word of a conversation."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.conversations.asking import asked, files_with
from tests.postgres import PostgresServer
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.xdist_group("postgres"),
]

LONG = " ".join(f"word{number}" for number in range(3_000))
OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))


async def turn(home: Path, url: str, secret: str, keys: str, *, context_id: str = "") -> str:
    """Have a turn of the supervisor with a delegation to an agent of ours; the conversation's id."""
    environ = {"DATABASE_URL": url, "ENCRYPTION_KEYS": keys}
    below = ScriptedModel(script=[calls(call("lookup", key=secret)), f"{secret} is 1. {LONG}"])
    script = [calls(call("keys", request=f"the value of {secret}")), f"{secret} is 1. {LONG}"]
    model = ScriptedModel(script=script)
    async with running_agent(Keys, home=home, model=below, environ=environ) as agent:
        above = {**environ, "SUB_AGENTS": f"keys={agent}", "SUB_AGENTS_TRUST": "keys=own"}
        async with (
            running_agent(PlatformEngineer, home=home, model=model, environ=above) as top,
            connected(top) as client,
        ):
            reply = await ask(client, f"What is {secret}? {LONG}", context_id=context_id)
            assert secret in reply.text
            if context_id:
                first = model.requests[0].messages
                assert sum(secret in str(message.content) for message in first) > 1
            await asked(client, action="rename", contextId=reply.context_id, title=f"About {secret}")
            exported = await asked(client, action="export", contextId=reply.context_id)
            assert secret in str(exported["tasks"])
            return reply.context_id


def words(server: PostgresServer, url: str, home: Path, secret: str) -> list[list[str]]:
    """The files that hold the secret: of the database, of the write-ahead log, and of the agents' folders."""
    server.execute("CHECKPOINT", url)
    return [
        files_with(server.files_of(url), secret),
        files_with(server.write_ahead_log, secret),
        files_with(home, secret),
    ]


async def test_with_a_key_neither_tables_nor_the_write_ahead_log_hold_a_word(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    url, secret = postgres.new_database(), "encrypted-zanzibar-4711"
    context_id = await turn(tmp_path, url, secret, OLD)
    assert words(postgres, url, tmp_path, secret) == [[], [], []]
    rotated = f"{NEW},{OLD}"
    assert await turn(tmp_path, url, secret, rotated, context_id=context_id) == context_id
    assert words(postgres, url, tmp_path, secret) == [[], [], []]


async def test_without_a_key_the_same_search_finds_the_words(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    url, secret = postgres.new_database(), "plain-zanzibar-4712"
    context_id = await turn(tmp_path, url, secret, "")
    tables, log, _ = words(postgres, url, tmp_path, secret)
    assert tables
    assert log
    assert await turn(tmp_path, url, secret, OLD, context_id=context_id) == context_id
