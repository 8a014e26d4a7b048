"""Which remote conversation a delegation is in, and whose turn it is there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid5

from utils.a2a_common.client.stream.message import NAMESPACE
from utils.keyed_locks import KeyedLocks

if TYPE_CHECKING:
    from utils.persistence.delegations import DelegationRecord
    from utils.persistence.stores import Contexts, Delegations


class RemoteConversations:
    """Lets one delegation at a time into a remote conversation: a second one would be refused or mixed up.

    Args:
        contexts: The remote context ids of our conversations.
        delegations: The delegations of tasks that have not ended.
    """

    def __init__(self, contexts: Contexts, delegations: Delegations) -> None:
        self._contexts = contexts
        self._delegations = delegations
        self._turns: KeyedLocks[tuple[str, str]] = KeyedLocks()

    @asynccontextmanager
    async def held(self, kept: DelegationRecord) -> AsyncIterator[DelegationRecord]:
        """Hold the remote conversation of a delegation, which is returned as it is to be sent there.

        A delegation that was sent stays in its context. A new one uses the conversation's context at the agent, or a
        context of its own if a question may be open there, because its message would end that question. This is known
        only when no other call uses the context: of two calls in one reply, the first may ask while the second waits
        for its turn.
        """
        while True:
            async with self._turns.of((kept.thread_id, kept.context_id)):
                context_id = kept.context_id if kept.sent else await self._context_for(kept)
                if context_id == kept.context_id:
                    yield kept
                    return
            kept = replace(kept, context_id=context_id)

    async def _context_for(self, kept: DelegationRecord) -> str:
        """Where a new delegation belongs, for one that has its turn in its present context."""
        own = (await self._contexts.used(kept.thread_id)).get(kept.agent, kept.context_id)
        apart = str(uuid5(NAMESPACE, f"{own}/{kept.id}"))
        if kept.context_id not in (own, apart):  # the agent has named another context meanwhile
            return own
        unanswered = await self._delegations.unanswered(kept.thread_id, kept.agent)
        if all(record.context_id != own for record in unanswered):
            return own
        await self._contexts.put(kept.thread_id, f"{kept.agent}/{kept.id}", apart)
        return apart
