"""Gives the conversations that one agent kept without authentication to a person, while the agent does not run."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import asdict

from utils.a2a_common.execution.request_parser import stored_thread_id
from utils.encryption.codec import Codec
from utils.errors import SettingsError, StorageError
from utils.persistence.adoption import ContextsElsewhere, Heir, adopt_in_database, adopt_in_files
from utils.persistence.encrypted.check import check_keys
from utils.persistence.home_lock import only_process_in
from utils.persistence.postgres.opening import make_pool
from utils.persistence.settings import DatabaseSettings, Store
from utils.settings import HomeSettings

IN_MEMORY = "STORE=memory keeps no conversation that could be given to anybody."


async def adopt(
    agent: str,
    settings: DatabaseSettings,
    home: HomeSettings,
    codec: Codec,
    *,
    person: str,
    tenant: str,
    dry: bool,
    elsewhere: ContextsElsewhere | None = None,
) -> None:
    """Move the conversations and print their ids as one line of JSON; with `dry` only print them.

    Args:
        agent: The agent.
        settings: Where it stores them.
        home: Its folder.
        codec: What encrypts them: they are encrypted for their new owner.
        person: Issuer and subject of the person who gets them, with a space between.
        tenant: The tenant that they are in, and stay in; empty outside tenants.
        dry: Whether nothing is moved.
        elsewhere: The supervisor's list of conversations that its own conversations have at this agent. Requests that it
            made for a user in a tenant are stored here outside all tenants, as long as callers are not authenticated.

    Raises:
        SettingsError: The agent runs, keeps nothing, or the keys are not those of its last start.
        StorageError: What is stored cannot be read or written.
    """
    if settings.store is Store.MEMORY:
        raise SettingsError("STORE", IN_MEMORY)
    heirs = heirs_at(agent, person, tenant, elsewhere)
    async with AsyncExitStack() as stack:
        if settings.url is None:
            try:
                folder = home.agent_home(agent)
                await stack.enter_async_context(only_process_in(folder))
            except OSError as error:
                raise StorageError("The folder of PLATFORM_ENGINEER_HOME cannot be written.") from error
            await check_keys(codec, folder, None)
            plans = [await asyncio.to_thread(adopt_in_files, folder, heir, codec, dry=dry) for heir in heirs]
        else:
            from utils.persistence.postgres.own_schema import has_table

            pool = make_pool(settings, agent)
            await pool.open()
            stack.push_async_callback(pool.close)
            if not await has_table(pool, "tasks"):  # it has never started
                heirs = []
            else:
                await check_keys(codec, home.home, pool)
            plans = [await adopt_in_database(pool, heir, codec, dry=dry) for heir in heirs]
    report = {
        "agent": agent,
        "conversations": sorted(context for plan in plans for context in plan.tasks),
        "left": sorted(context for plan in plans for context in plan.left),
        "elsewhere": asdict(plans[0].elsewhere if plans else ContextsElsewhere({}, {})),
    }
    sys.stdout.write(json.dumps(report) + "\n")


def heirs_at(agent: str, person: str, tenant: str, elsewhere: ContextsElsewhere | None) -> list[Heir]:
    """The person as the new owner of conversations of unknown callers of their tenant, and of tasks that the supervisor sent for these callers."""
    theirs = set(elsewhere.theirs.get(agent, ()) if elsewhere else ())
    others = set(elsewhere.others.get(agent, ()) if elsewhere else ())

    def heir(before: str, gets: Callable[[str], bool]) -> Heir:
        old, new = (
            json.dumps([where, who], ensure_ascii=False) for where, who in ((before, ""), (tenant, person))
        )
        return Heir(
            old, new, person, tenant, lambda owner, context: stored_thread_id(agent, owner, context), gets
        )

    direct = heir(tenant, lambda context: context not in others)
    return [direct, heir("", lambda context: context in theirs)] if tenant and theirs else [direct]
