"""Gives the conversations that one agent kept without authentication to a person, while the agent does not run."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AsyncExitStack

from utils.a2a_common.execution.request_parser import stored_thread_id
from utils.errors import SettingsError, StorageError
from utils.persistence.adoption import Heir, adopt_in_database, adopt_in_files
from utils.persistence.home_lock import only_process_in
from utils.persistence.postgres.opening import make_pool
from utils.persistence.settings import DatabaseSettings, Store
from utils.settings import HomeSettings

IN_MEMORY = "STORE=memory keeps no conversation that could be given to anybody."


async def adopt(
    agent: str, settings: DatabaseSettings, home: HomeSettings, *, person: str, tenant: str, dry: bool
) -> None:
    """Move the conversations and print their ids as one line of JSON; with `dry` only print them.

    Args:
        agent: The agent.
        settings: Where it stores them.
        home: Its folder.
        person: Issuer and subject of the person who gets them, with a space between.
        tenant: The tenant that they are in, and stay in; empty outside tenants.
        dry: Whether nothing is moved.

    Raises:
        SettingsError: The agent runs, or keeps nothing.
        StorageError: What is stored cannot be read or written.
    """
    if settings.store is Store.MEMORY:
        raise SettingsError("STORE", IN_MEMORY)
    before, after = (json.dumps([tenant, user], ensure_ascii=False) for user in ("", person))
    heir = Heir(before, after, person, tenant, lambda owner, context: stored_thread_id(agent, owner, context))
    async with AsyncExitStack() as stack:
        if settings.url is None:
            try:
                folder = home.agent_home(agent)
                await stack.enter_async_context(only_process_in(folder))
            except OSError as error:
                raise StorageError("The folder of PLATFORM_ENGINEER_HOME cannot be written.") from error
            plan = await asyncio.to_thread(adopt_in_files, folder, heir, dry=dry)
        else:
            pool = make_pool(settings, agent)
            await pool.open()
            stack.push_async_callback(pool.close)
            plan = await adopt_in_database(pool, heir, dry=dry)
    told = {"agent": agent, "conversations": sorted(plan.tasks), "left": list(plan.left)}
    sys.stdout.write(json.dumps(told) + "\n")
