"""Replicas of an agent get encryption keys one after the other, under load: no turn fails and no piece is missing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest
from cryptography.fernet import Fernet

from tests.e2e.observability.processes import Served, ready, started
from tests.e2e.postgres.rolling import WHOLE, Caller
from tests.e2e.postgres.test_rolling_restart import COUNTING
from tests.postgres import PostgresServer

pytestmark = [
    pytest.mark.servers,
    pytest.mark.processes,
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("postgres"),
]

KEY, NEW = (Fernet.generate_key().decode() for _ in range(2))
CALLERS = 8


class Replicas:
    """Two processes of an agent; `give` starts each again with other keys."""

    def __init__(self, folder: Path, url: str, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._started = 0
        self._settings = {
            "DATABASE_URL": url,
            "DATABASE_CONNECT_SECONDS": "60",
            "EMBEDDINGS_PROVIDER": "none",
            "SHUTDOWN_PAUSE_SECONDS": "0",
            "SHUTDOWN_GRACE_SECONDS": "0.5",
        }
        self.served: list[Served] = []

    async def start(self, keys: str) -> Served:
        self._started += 1
        folder = self._folder / str(self._started)
        folder.mkdir()
        settings = {**self._settings, **({"ENCRYPTION_KEYS": keys} if keys else {})}
        served: Served = self._stack.enter_context(started(folder, "counting", COUNTING, settings))
        async with ready(served):
            return served

    async def give(self, keys: str) -> None:
        """Start one replica after the other again with these keys, each once the other is ready."""
        for index in range(2):
            await asyncio.sleep(1)  # some turns run, some wait
            old, self.served[index] = self.served[index], self.served[1 - index]
            old.process.terminate()
            self.served[index] = await self.start(keys)
            assert await asyncio.to_thread(old.process.wait, 60) == 0

    @property
    def log(self) -> str:
        return "".join(path.read_text() for path in self._folder.glob("*/counting.log"))


@asynccontextmanager
async def under_load(replicas: Replicas) -> AsyncIterator[None]:
    """Callers that ask one question after the other within the block, and each get the whole answer."""
    ended, texts = asyncio.Event(), []

    async def ask(http: httpx.AsyncClient, number: int) -> None:
        while not ended.is_set():
            caller = Caller(http, lambda: [f"{each.url}/" for each in replicas.served], number)
            await (caller.stream() if number % 2 else caller.block())
            texts.append(caller.text)

    async with httpx.AsyncClient(trust_env=False, timeout=120) as http:
        running = asyncio.gather(*(ask(http, number) for number in range(CALLERS)))
        yield
        ended.set()
        async with asyncio.timeout(120):
            await running
    assert len(texts) >= CALLERS
    assert set(texts) == {WHOLE}


@pytest.mark.parametrize(
    ("steps", "told"),
    [((f"plain,{KEY}", KEY), False), ((KEY, f"{NEW},{KEY}"), True)],
    ids=["all read a key before one writes with it", "a key writes that the other replica lacks"],
)
async def test_no_turn_is_lost(
    tmp_path: Path, postgres: PostgresServer, steps: tuple[str, ...], told: bool
) -> None:
    with ExitStack() as stack:
        replicas = Replicas(tmp_path, postgres.new_database(), stack)
        replicas.served = [await replicas.start(""), await replicas.start("")]
        async with under_load(replicas):
            for keys in steps:
                await replicas.give(keys)
    log = replicas.log
    assert ("storage.keys_outdated" in log) is told
    assert ("storage.key_missing" in log) <= told
    assert not any(event in log for event in ("run.unreadable", "turn.interrupted", "Traceback"))
