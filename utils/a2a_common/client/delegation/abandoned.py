"""Cancels tasks at other agents whose answers are no longer needed.

A delegation whose own task has ended is canceled at once, or when its agent can be reached again; a message that was not
followed to its end, with the task that it began.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING

import structlog

from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.client.stream.arrival import find_task
from utils.a2a_common.client.stream.decode import decode_task
from utils.a2a_common.client.stream.message import message_id_of, user_message
from utils.a2a_common.client.transport.credentials import whom_for
from utils.a2a_common.client.transport.errors import BEST_EFFORT, RequestRefused
from utils.a2a_common.client.transport.peer_text import with_quotation
from utils.a2a_common.client.transport.sentences import SUB_AGENT_CUT_OFF
from utils.a2a_common.tasks.begun_effects import note_cut_below
from utils.cancellation import end_tasks
from utils.errors import OutcomeUnknown, SubAgentUnavailable

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message
    from a2a.types.a2a_pb2 import Task as A2ATask

    from utils.a2a_common.client.agents.registry import SubAgentRegistry
    from utils.a2a_common.client.delegation.remote_agent import RemoteAgent
    from utils.a2a_common.client.stream.message import RemoteCall
    from utils.a2a_common.client.transport.connection import Connection
    from utils.a2a_common.client.transport.credentials import ActingFor
    from utils.persistence.delegations import DelegationRecord
    from utils.persistence.stores import Delegations

log = structlog.get_logger(__name__)

CANCEL_SECONDS = 5.0
"""Longest wait for the answer of an agent that shall cancel a task."""


class Abandoned:
    """The delegations of tasks that have ended. They stay in the store until their agents have answered.

    Args:
        delegations: The store, which outlives the process.
        registry: The agents that are configured.
        reach: Reaches one of them; `RemoteAgents.reach`.
    """

    def __init__(
        self,
        delegations: Delegations,
        registry: SubAgentRegistry,
        reach: Callable[[str, ActingFor], AbstractAsyncContextManager[RemoteAgent]],
    ) -> None:
        self._delegations = delegations
        self._registry = registry
        self._reach = reach
        self._background: set[asyncio.Task[None]] = set()

    async def end(self, parent_task_id: str) -> None:
        """A task has ended: cancel the tasks that it left open at other agents. An agent that cannot be reached is tried again later."""
        await self._end_all(await self._delegations.abandon(parent_task_id))

    def came_up(self, agent: str) -> None:
        """An agent can be reached again: cancel what was left there."""
        task = asyncio.create_task(self._end_at(agent))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def stop(self) -> None:
        """Stop the background work. What is left is canceled once its agent is reachable after the next start."""
        await end_tasks(list(self._background))

    async def _end_at(self, agent: str) -> None:
        try:
            await self._end_all(await self._delegations.abandoned(agent))
        except Exception:  # background task: it is tried again when the agent comes up the next time
            log.exception("delegation.cancel_failed", agent=agent)

    async def _end_all(self, records: Sequence[DelegationRecord]) -> None:
        await asyncio.gather(*map(self._end, records))

    async def _end(self, record: DelegationRecord) -> None:
        if await self._cancel(record):
            await self._delegations.remove(record.id)

    async def _cancel(self, record: DelegationRecord) -> bool:
        """Cancel the task of the last message; return whether its agent answered, or is no longer configured."""
        if record.agent not in {agent.name for agent in self._registry.agents}:
            return True
        message_id = message_id_of(record, max(0, record.sent - 1))
        with suppress(SubAgentUnavailable):  # its card is unknown, or no longer names an address
            async with self._reach(record.agent, whom_for(record)) as remote:
                log.info("delegation.given_up", agent=record.agent, task_id=record.parent_task_id)
                return await _cancel_by_message(
                    remote.connection, message_id, record.context_id, record.task_id
                )
        return False


async def cancel_unfinished(connection: Connection, call: RemoteCall, task: TaskView) -> bool:
    """Cancel the task that a message began, even if its id never arrived. Failing is logged.

    Returns:
        Whether the agent confirmed it, so that nothing of the task runs there any longer.
    """
    if not task.task_id and not await _find(connection, call.message(signed=connection.knows_senders), task):
        return False
    return await _cancel_open(connection, task)


async def _cancel_by_message(connection: Connection, message_id: str, context_id: str, task_id: str) -> bool:
    """Cancel the task that a message began or answered, where it has not ended. Failing is logged.

    Args:
        connection: Reaches the agent.
        message_id: The message; its task is looked for by it.
        context_id: The conversation that it was sent in.
        task_id: The task, where it is known.

    Returns:
        Whether the agent confirmed it, so that nothing of the task runs there any longer.
    """
    task = TaskView(task_id)
    if not task_id:
        message = user_message("", context_id=context_id, message_id=message_id)
        if not await _find(connection, message, task):
            return False
    return await _cancel_open(connection, task)


async def _cancel_open(connection: Connection, task: TaskView) -> bool:
    """Cancel a task unless it has ended; whether the agent answered."""
    return await _cancel(connection, task.task_id) if task.task_id and (task.open or task.waits) else True


async def _find(connection: Connection, message: Message, task: TaskView) -> bool:
    """Bring `task` up to date where the agent has the message; whether the agent answered."""
    with suppress(*BEST_EFFORT):
        async with asyncio.timeout(CANCEL_SECONDS):
            for event in await find_task(connection, message):
                task.apply(event)
            return True
    return False


async def _cancel(connection: Connection, task_id: str) -> bool:
    """Cancel a task; whether the agent answered. Failing is logged."""
    try:
        async with asyncio.timeout(CANCEL_SECONDS):
            _note_unknown(connection.name, await connection.cancel(task_id))
    except BEST_EFFORT as error:
        log.warning("delegation.cancel_failed", agent=connection.name, reason=type(error).__name__)
        return isinstance(error, RequestRefused)
    return True


def _note_unknown(agent: str, canceled: A2ATask) -> None:
    """Note for our own task that the outcome of one of the agent's calls is unknown."""
    task = TaskView(canceled.id)
    for event in decode_task(canceled):
        task.apply(event)
    if task.error is not None and task.error.code == OutcomeUnknown.code:
        note_cut_below(agent, with_quotation(SUB_AGENT_CUT_OFF.format(agent=agent), task.error.message))
