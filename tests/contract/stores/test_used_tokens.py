"""A service token is taken once, by one of all processes that share what was taken."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from tests.postgres import AGENT, PostgresServer
from utils.auth.refusal import AuthRefused, RefusalReason
from utils.auth.service_tokens import ServiceTokens, Signer, new_private_key
from utils.auth.token_form import parse_token
from utils.auth.used_tokens import MemoryUsedTokens, UsedTokens
from utils.errors import StorageError
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.postgres.used_tokens import TIDY_SECONDS, PostgresUsedTokens

NOW = 1_900_000_000.0

KEY = new_private_key()


@pytest.fixture
async def pools(postgres: PostgresServer) -> AsyncIterator[list[PostgresPool]]:
    settings = postgres.settings(await postgres.migrated())
    async with AsyncExitStack() as stack:
        made = [PostgresPool(settings, agent=AGENT) for _ in range(2)]
        for pool in made:
            await pool.open()
            stack.push_async_callback(pool.close)
        yield made


async def takes(used: UsedTokens, token: str) -> bool:
    """Whether an agent with this store of used tokens takes a token."""
    try:
        await ServiceTokens(KEY, "desk", 30, used).verified(parse_token(token), time.time())
    except AuthRefused as refused:
        return refused.why is not RefusalReason.REPLAYED
    return True


async def test_a_process_takes_a_token_once() -> None:
    used, token = MemoryUsedTokens(), Signer(KEY, "supervisor").token("desk", "ada")
    assert [await takes(used, token), await takes(used, token)] == [True, False]


@pytest.mark.servers
async def test_of_two_replicas_one_takes_a_token_also_where_both_are_asked_at_once(
    pools: list[PostgresPool],
) -> None:
    replicas = [PostgresUsedTokens(pool) for pool in pools]
    for _ in range(10):
        token = Signer(KEY, "supervisor").token("desk", "ada")
        taken = await asyncio.gather(*(takes(used, token) for used in replicas))
        assert sorted(taken) == [False, True]


@pytest.mark.servers
async def test_ids_of_tokens_that_have_ended_are_deleted(pools: list[PostgresPool]) -> None:
    used = PostgresUsedTokens(pools[0])
    assert await used.use("old", NOW + 10, NOW)
    assert await used.use("new", NOW + 2 * TIDY_SECONDS, NOW)
    assert not await used.use("old", NOW + 10, NOW)
    assert await used.use("next", NOW + 2 * TIDY_SECONDS, NOW + TIDY_SECONDS)
    row = await pools[0].one("SELECT array_agg(id ORDER BY id) FROM used_tokens")
    assert row == (["new", "next"],)


class Broken:
    """A store that fails."""

    async def use(self, number: str, until: float, now: float) -> bool:
        raise StorageError


async def test_where_it_cannot_be_stored_that_a_token_is_used_it_is_refused() -> None:
    token = Signer(KEY, "supervisor").token("desk", "ada")
    with pytest.raises(AuthRefused) as refused:
        await ServiceTokens(KEY, "desk", 30, Broken()).verified(parse_token(token), time.time())
    assert refused.value.why is RefusalReason.STORAGE
