"""An agent of somebody else: it does what the script in the message says, and counts its runs."""

from __future__ import annotations

import asyncio

from a2a.server.agent_execution import RequestContext
from a2a.server.events.event_queue import EventQueue
from a2a.types.a2a_pb2 import TaskState

from benchmarks.simulate.facts import Facts, Run
from benchmarks.simulate.process import PROCESS
from benchmarks.simulate.script import Ids, Script, chunks, ending_of, late, status_of, task_of
from benchmarks.simulate.trace import Trace
from utils.a2a_common.engine.event_queue import LogQueue
from utils.a2a_common.engine.turn_executor import TurnExecutor


class ScriptedExecutor(TurnExecutor):
    """Runs scripts. A turn that another process began starts again from its first step.

    Attributes:
        resumable: Whether a turn may go on after its process died.
    """

    resumable = False
    begins_with_task = False

    def __init__(self, facts: Facts, trace: Trace, *, resumable: bool, says_canceled: bool) -> None:
        self._facts = facts
        self._trace = trace
        self._says_canceled = says_canceled
        self.resumable = resumable

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Run the script of one message."""
        message = context.message
        assert message is not None
        ids = Ids(context.task_id or "", context.context_id or "", message.message_id)
        assert isinstance(event_queue, LogQueue)
        script = Script.decode(context.get_user_input())
        process = PROCESS.get()
        run = Run(ids.message, ids.task, process.name if process else "")
        self._trace.note(run.process, f"runs {ids.message} of {ids.task}")
        try:
            if script.ending != "message":
                if context.current_task is None and not await event_queue.append(task_of(ids, message)):
                    return  # nothing of it is stored: it was not accepted, and may be sent again
                self._facts.runs.append(run)
                await event_queue.enqueue_event(status_of(ids, TaskState.TASK_STATE_WORKING))
            for step, event in chunks(script, ids):
                await asyncio.sleep(step.wait)
                if script.ending != "message":
                    await event_queue.enqueue_event(event)
            if script.ending == "raise":
                raise RuntimeError("the agent is broken")
            ending = ending_of(script, ids)
            if ending is not None:
                await event_queue.enqueue_event(ending)
            for event in late(script, ids):
                await event_queue.enqueue_event(event)
        except asyncio.CancelledError:
            run.outcome = "cancelled"
            raise
        else:
            run.outcome = "returned"
        finally:
            self._trace.note(run.process, f"{ids.message} of {ids.task}: {run.outcome or 'raised'}")

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Say that the task is canceled, or leave that to the caller."""
        await asyncio.sleep(0.01)
        if self._says_canceled:
            ids = Ids(context.task_id or "", context.context_id or "", "")
            await event_queue.enqueue_event(status_of(ids, TaskState.TASK_STATE_CANCELED))

    async def abandon(self, task_id: str) -> None:
        """It has no sub-tasks."""

    async def forget(self, task_id: str) -> None:
        """It stores nothing for a resume."""
