"""Erases all that one agent keeps of a person, without serving the agent."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from utils.a2a_common.execution.request_parser import stored_thread_id
from utils.a2a_common.protocol.owner import parts_of
from utils.auth.service_tokens import ISSUER
from utils.errors import SettingsError, StorageError
from utils.memory.memory import owner_label
from utils.persistence.compaction import compact
from utils.persistence.erasure import (
    DataSubject,
    Erased,
    Personal,
    erase_in_database,
    erase_in_files,
    files_of,
    together,
)
from utils.persistence.files import StoreFile
from utils.persistence.home_lock import only_process_in
from utils.persistence.owned_tables import Table
from utils.persistence.postgres.opening import make_pool
from utils.persistence.settings import DatabaseSettings, Store

if TYPE_CHECKING:
    from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
    from utils.settings import HomeSettings

IN_MEMORY = "STORE=memory keeps nothing that could be erased: it is gone when the agent ends."

MEMORIES = Table(StoreFile.MEMORIES, "memories", "memories", "owner")
SOURCES = Table(StoreFile.MEMORIES, "memory_sources", "memory_sources", "owner")


async def erase(
    agent: type[BaseLangGraphAgent],
    settings: DatabaseSettings,
    home: HomeSettings,
    *,
    person: str,
    tenant: str,
    dry: bool,
) -> None:
    """Erase a person's data and print a report as one line of JSON; with `dry` only print it.

    Args:
        agent: The agent.
        settings: Where it stores.
        home: Its folder.
        person: Issuer and subject of the person, with a space between.
        tenant: The tenant that the person is in; empty outside tenants.
        dry: Whether nothing is erased.

    Both stores are searched: files from before DATABASE_URL was set stay in the folder, where no agent shows them.

    Raises:
        SettingsError: The agent runs on its files, or keeps nothing.
        StorageError: What is stored cannot be read or written.
    """
    folder = home.home / agent.name
    if settings.store is Store.MEMORY and not folder.is_dir():
        raise SettingsError("STORE", IN_MEMORY)
    names = (
        person,
        f"{ISSUER} {person}",
    )  # an agent behind the supervisor knows a person by the supervisor's token
    whose = DataSubject(
        [json.dumps([tenant, name], ensure_ascii=False) for name in names],
        lambda owner, context: stored_thread_id(agent.name, owner, context),
        [*_memories(tenant, person), *agent.personal(tenant, person)],
    )
    async with AsyncExitStack() as stack:
        if folder.is_dir():  # else nothing is created: the folder may be the wrong one
            await stack.enter_async_context(_alone_in(folder))
        shared = await _in_database(agent, settings, whose, dry=dry) if settings.url is not None else _NOTHING
        filed = await asyncio.to_thread(erase_in_files, folder, whose, dry=dry)
        for name in [] if dry else sorted(files_of(whose)):
            await compact(folder / name)
    report = _report(agent.name, together([shared, filed]), names, tenant)
    report["out_of_sight"] = len(filed.conversations) if settings.url is not None else 0
    sys.stdout.write(json.dumps(report) + "\n")


@asynccontextmanager
async def _alone_in(folder: Path) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(only_process_in(folder))
        except OSError as error:
            raise StorageError("The folder of PLATFORM_ENGINEER_HOME cannot be written.") from error
        yield


async def _in_database(
    agent: type[BaseLangGraphAgent], settings: DatabaseSettings, whose: DataSubject, *, dry: bool
) -> Erased:
    from utils.persistence.postgres.own_schema import has_table
    from utils.persistence.postgres.versions import check_not_newer, version_of

    pool = make_pool(settings, agent.name)
    await pool.open()
    try:
        there = await has_table(pool, "tasks")  # else it has never started
        check_not_newer(await version_of(pool), agent.name)
        return await erase_in_database(pool, whose, dry=dry) if there else _NOTHING
    finally:
        await pool.close()


_NOTHING = together([])


def _memories(tenant: str, person: str) -> list[Personal]:
    label = owner_label(tenant, person) or ""
    return [Personal("memories", MEMORIES, label), Personal("", SOURCES, label)]


def _report(agent: str, erased: Erased, names: Sequence[str], tenant: str) -> dict[str, object]:
    tenants = {where for where, who in map(parts_of, erased.others) if who in names and where != tenant}
    return {
        "agent": agent,
        "conversations": sorted(context for _, context in erased.conversations),
        "left": list(erased.left),
        "counts": {what: count for what, count in erased.counts.items() if what},
        "elsewhere": list(erased.elsewhere),
        "tenants": sorted(tenants),
    }
