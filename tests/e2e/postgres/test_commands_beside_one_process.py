"""Commands on the database beside the one process of `ENGINE=local`: they leave it the conversation that it deletes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.conversations.asking import asked
from tests.postgres import PostgresServer
from utils.a2a_common.server.deletion import Deletion
from utils.encryption.codec import PLAIN
from utils.persistence.adoption import Heir, adopt_in_database
from utils.persistence.erasure import DataSubject, erase_in_database
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.task_log_store import IdleContext
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]


def thread_of(owner: str, context_id: str) -> str:
    return json.dumps([owner, context_id])


async def erased(pool: PostgresPool, owner: str) -> list[str]:
    """Erase what is an owner's; the conversations that stay."""
    return list((await erase_in_database(pool, DataSubject([owner], thread_of), dry=False)).left)


async def adopted(pool: PostgresPool, owner: str) -> list[str]:
    """Give Ben what is an owner's; the conversations that stay."""
    heir = Heir(owner, "ben", "issuer ben", "", thread_of)
    return list((await adopt_in_database(pool, heir, PLAIN, dry=False)).left)


@pytest.mark.parametrize("command", [erased, adopted])
async def test_a_conversation_that_the_process_is_deleting_is_left_to_it(
    postgres: PostgresServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: Callable[[PostgresPool, str], Awaitable[list[str]]],
) -> None:
    deleting: asyncio.Future[IdleContext] = asyncio.get_running_loop().create_future()
    go_on = asyncio.Event()
    delete = Deletion.delete

    async def delete_later(self: Deletion, context: IdleContext) -> None:
        deleting.set_result(context)
        await go_on.wait()
        await delete(self, context)

    monkeypatch.setattr(Deletion, "delete", delete_later)
    url = postgres.new_database()
    environ = {"DATABASE_URL": url, "DATABASE_CONNECT_SECONDS": "60", "ENGINE": "local"}
    pool = PostgresPool(postgres.settings(url), agent=Keys.name)
    async with (
        running_agent(Keys, home=tmp_path, model=ScriptedModel.of("Hi."), environ=environ) as agent,
        connected(agent) as client,
    ):
        context_id = (await ask(client, "Hello.")).context_id
        request = asyncio.create_task(asked(client, action="delete", contextId=context_id))
        owner = (await deleting).owner
        await pool.open()
        try:
            left = await command(pool, owner)
        finally:
            await pool.close()
            go_on.set()
        assert (await request)["deleted"]
    assert left == [context_id]
