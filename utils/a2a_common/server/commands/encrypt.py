"""Encrypts what one agent stored before, by the first key and for its place, without serving the agent."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from utils.embeddings.renewal import renew_vectors
from utils.encryption.codec import VARIABLE
from utils.errors import SettingsError, StorageError
from utils.persistence.encrypted.check import check_keys
from utils.persistence.encrypted.renew_files import renew_files
from utils.persistence.encrypted.tally import Tally
from utils.persistence.home_lock import only_process_in
from utils.persistence.settings import DatabaseSettings, Store

if TYPE_CHECKING:
    from pathlib import Path

    from utils.encryption.codec import Codec
    from utils.settings import HomeSettings

NO_KEYS = f"{VARIABLE} names no key that writes, so nothing can be encrypted. Put one first, as docs/encryption.md shows, and run this again."
IN_MEMORY = "STORE=memory keeps nothing that could be encrypted."

SECONDS = 0.5
"""Between two lines of progress."""


async def encrypt_stored(
    agent: str, settings: DatabaseSettings, home: HomeSettings, codec: Codec, *, rewrite: bool
) -> None:
    """Encrypt it, with lines of progress on standard error; print the counts as one line of JSON.

    Args:
        agent: The agent.
        settings: Where it stores.
        home: Its folder.
        codec: The keys.
        rewrite: Whether the tables of a database are rewritten then.

    Raises:
        SettingsError: There are no keys or not those of the last start, or the agent runs on its files.
        StorageError: What is stored cannot be read or written.
    """
    if not codec.on:
        raise SettingsError(VARIABLE, NO_KEYS)
    if settings.store is Store.MEMORY:
        raise SettingsError("STORE", IN_MEMORY)
    tally = Tally(_Progress(agent))
    async with AsyncExitStack() as stack:
        folder = await _folder(agent, home)
        if settings.url is None:
            await stack.enter_async_context(only_process_in(folder))
            await check_keys(codec, folder, None)
            await _in_thread(folder, codec, tally)
        else:
            from utils.persistence.encrypted.renew_database import renew_database
            from utils.persistence.postgres.opening import make_pool
            from utils.persistence.postgres.own_schema import has_table

            pool = make_pool(settings, agent)
            await pool.open()
            stack.push_async_callback(pool.close)
            if await has_table(pool, "tasks"):  # else it has never started
                await check_keys(codec, folder, pool)
                await renew_database(pool, codec, tally, rewrite=rewrite)
        vectors = await asyncio.to_thread(renew_vectors, folder, codec)
    report = {
        "agent": agent,
        "values": tally.total,
        "encrypted": tally.renewed,
        "vectors": vectors,
        "unreadable": tally.unreadable,
    }
    sys.stdout.write(json.dumps(report) + "\n")


async def _folder(agent: str, home: HomeSettings) -> Path:
    try:
        return await asyncio.to_thread(home.agent_home, agent)
    except OSError as error:
        raise StorageError("The folder of PLATFORM_ENGINEER_HOME cannot be written.") from error


async def _in_thread(folder: Path, codec: Codec, tally: Tally) -> None:
    try:
        await asyncio.to_thread(renew_files, folder, codec, tally)
    finally:
        tally.stopped.set()  # the thread ends after its batch, where this was cancelled


class _Progress:
    """Writes the progress; on a terminal in place."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._written_at = 0.0
        self._done = False

    def __call__(self, tally: Tally) -> None:
        done = tally.seen >= tally.total
        if self._done or (not done and time.monotonic() - self._written_at < SECONDS):
            return
        self._written_at, self._done = time.monotonic(), done
        line = f"{self._agent}: {tally.seen} of {tally.total} values, {tally.renewed} encrypted"
        sys.stderr.write(f"\r{line}{chr(10) if done else ''}" if sys.stderr.isatty() else f"{line}\n")
        sys.stderr.flush()
