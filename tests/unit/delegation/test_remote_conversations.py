"""Which remote conversation a delegation goes into, and that it is alone there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from multi_agents.platform_engineer.remote_conversations import RemoteConversations
from utils.persistence.contexts import Person, RemoteContexts
from utils.persistence.delegations import (
    ABANDONED,
    COMPLETED,
    FAILED,
    WAITING,
    WORKING,
    DelegationRecord,
    DelegationStore,
)


class House:
    """What a supervisor keeps in its files, and the conversations of one of its processes."""

    def __init__(self, contexts: RemoteContexts, delegations: DelegationStore) -> None:
        self.contexts, self.delegations = contexts, delegations
        self.conversations = RemoteConversations(contexts, delegations)

    async def begun(self, name: str) -> DelegationRecord:
        """A delegation that was not sent yet."""
        there = await self.contexts.use("thread", "keys", Person("ann", ""))
        return DelegationRecord(name, "task", "thread", "keys", name, "step", "What is a?", there)

    async def sent(self, name: str, state: str) -> DelegationRecord:
        """A delegation that was sent, in a state."""
        kept = replace(await self.begun(name), sent=1, state=state)
        await self.delegations.put(kept)
        return kept

    async def place_of(self, kept: DelegationRecord) -> str:
        """The remote conversation that a delegation is let into."""
        async with asyncio.timeout(60), self.conversations.held(kept) as held:
            return held.context_id


@asynccontextmanager
async def house(home: Path) -> AsyncIterator[House]:
    contexts, delegations = RemoteContexts(home / "contexts.sqlite"), DelegationStore(home / "errands.sqlite")
    await contexts.open()
    await delegations.open()
    try:
        yield House(contexts, delegations)
    finally:
        await contexts.close()
        await delegations.close()


async def test_the_second_of_two_waits_for_the_first_and_goes_elsewhere_once_that_has_asked(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as it:
        first, second = await it.begun("first"), await it.begun("second")
        async with it.conversations.held(first) as held:
            waits = asyncio.create_task(it.place_of(second))
            await it.delegations.put(replace(held, sent=1, state=WORKING))
            assert not waits.done()
            await it.delegations.put(replace(held, sent=1, state=WAITING))
        assert await waits != held.context_id
        assert await waits in (await it.contexts.used("thread")).values()


async def test_a_request_that_may_still_be_worked_on_after_a_restart_is_left_alone_by_the_next(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as it:
        first = await it.sent("first", WORKING)
    async with house(tmp_path) as it:
        second = await it.place_of(await it.begun("second"))
        assert second not in (first.context_id, await it.place_of(await it.begun("third")))
        assert await it.place_of(await it.begun("second")) == second


async def test_what_was_sent_stays_where_it_is_whatever_else_is_open_there(tmp_path: Path) -> None:
    async with house(tmp_path) as it:
        first = await it.sent("first", WAITING)
        second = await it.sent("second", WAITING)
        assert await it.place_of(first) == await it.place_of(second) == first.context_id


async def test_requests_that_have_ended_keep_nobody_out_of_their_conversation(tmp_path: Path) -> None:
    async with house(tmp_path) as it:
        for state in (COMPLETED, FAILED, ABANDONED):
            ended = await it.sent(state, state)
        assert await it.place_of(await it.begun("next")) == ended.context_id


async def test_a_context_that_the_agent_named_meanwhile_is_the_one_that_is_looked_at(tmp_path: Path) -> None:
    async with house(tmp_path) as it:
        first, second, third = [await it.begun(name) for name in ("first", "second", "third")]
        await it.contexts.put("thread", "keys", "named by the agent")
        assert await it.place_of(second) == "named by the agent"
        named = replace(first, sent=1, state=WAITING, context_id="named by the agent")
        await it.delegations.put(named)
        assert await it.place_of(third) not in (first.context_id, named.context_id)
