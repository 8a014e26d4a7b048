"""Sends the events of tasks to their webhooks: each webhook is a reader of the task log at its own pace.

What was sent is stored, so that a webhook hears the end of its task also where a process died before it was sent, or
before the task had one. After such a death the last second of events may be sent twice. What settles a turn waits for a
webhook that is away; any other event is given up after a few tries.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import partial

import structlog
from a2a.server.events.event_queue import Event
from a2a.types.a2a_pb2 import Message, TaskArtifactUpdateEvent, TaskState
from a2a.utils.errors import A2AError, TaskNotFoundError

from utils.a2a_common.protocol.version import LEGACY
from utils.a2a_common.server.push import body as push_body
from utils.a2a_common.server.push.body import Notification
from utils.a2a_common.server.push.delivery import PushDelivery, PushPolicy, Undelivered
from utils.a2a_common.server.push.store import PushConfigs, Webhook
from utils.a2a_common.tasks.entries import Entry, Suspended
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.states import TERMINAL
from utils.a2a_common.tasks.unwritten_ends import FIRST_PAUSE, LONGEST_PAUSE
from utils.cancellation import end_tasks
from utils.errors import Draining, StorageError
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.supervised import supervised
from utils.timing import Deadline, backoff, wait_for

log = structlog.get_logger(__name__)

_NOTE_SECONDS = 1.0
"""Longest time between two writes of what was sent, while a webhook takes one event after the other."""

_LOOK_SECONDS = 0.2
"""Pause while a turn is under way that writes nothing."""

HasTurn = Callable[[str, str], Awaitable[bool]]
"""Whether a turn of a task runs or will: called with the id and the owner of the task."""

Key = tuple[str, str, str]
"""Owner, task and id of a webhook."""


@dataclass(eq=False, slots=True)
class _Lane:
    """The worker of one webhook.

    Attributes:
        webhook: What it sends to.
        worker: Its asyncio task.
        noted_at: When the last event was noted as sent, in the loop's time.
        lost: Notifications in a row that the webhook did not take.
        pauses: How often the webhook was waited for, because it is away and what settles a turn is for it.
        patience: Until when it is waited for.
        again: Whether a turn was submitted since the worker looked.
        shown: The last event of the whole task that a webhook of protocol 0.3 took, and the task's state then.
    """

    webhook: Webhook
    worker: asyncio.Task[None] | None = None
    noted_at: float = 0.0
    lost: int = 0
    pauses: int = 0
    patience: Deadline = field(default_factory=Deadline)
    again: bool = False
    shown: tuple[int, TaskState] = (0, TaskState.TASK_STATE_UNSPECIFIED)

    def next_pause(self, policy: PushPolicy) -> float | None:
        """Seconds to wait once more for a webhook that is away, or `None` where it was waited for long enough."""
        if not self.pauses:
            self.patience = Deadline.after(policy.patience)
        pause = backoff(self.pauses + 1, first=policy.first_pause, longest=policy.longest_pause)
        if not self.patience.allows(pause):
            return None
        self.pauses += 1
        return pause


class _Away(Exception):
    """A webhook that is away is to hear what settles a turn: it is tried again after `pause` seconds."""

    def __init__(self, pause: float) -> None:
        super().__init__(pause)
        self.pause = pause


class PushSender:
    """Follows the log of each task that has webhooks, beside the task: a slow webhook never delays it.

    Args:
        tasks: The task log.
        configs: The webhooks.
        policy: How hard a delivery is tried.
        has_turn: Whether a turn of a task runs or will.
    """

    def __init__(self, tasks: TaskLog, configs: PushConfigs, policy: PushPolicy, has_turn: HasTurn) -> None:
        self._tasks = tasks
        self._configs = configs
        self._policy = policy
        self._has_turn = has_turn
        self._delivery = PushDelivery(policy)
        self._lanes: dict[Key, _Lane] = {}
        self._looking: asyncio.Task[None] | None = None
        self._missed: set[asyncio.Task[None]] = set()
        self._closing = asyncio.Event()

    def start(self, *, every: float | None = None) -> None:
        """Go on with what an earlier process did not send; look again `every` so many seconds, for processes that die."""
        self._follow_unfinished()
        self._configs.tell(self._look_at)
        if every is not None:
            look = supervised("push", partial(self._look_again, every), after=every)
            self._looking = asyncio.create_task(look)

    async def _look_again(self, seconds: float) -> float:
        self._follow_unfinished()
        return seconds

    def _follow_unfinished(self) -> None:
        for task_id, owner in self._configs.unfinished():
            self.follow(task_id, owner)

    def _look_at(self, webhook: Webhook) -> None:
        """Look once at a webhook that another process stored."""
        look = asyncio.create_task(self._follow_missed(webhook))
        self._missed.add(look)
        look.add_done_callback(self._missed.discard)

    async def _follow_missed(self, webhook: Webhook) -> None:
        """Follow a task that was ended here before this process knew of the webhook, where no process works on it."""
        with suppress(StorageError, A2AError, Suspended, Draining):  # the next look or process finds it
            if not await self._works(webhook) and await self._is_behind(webhook):
                self._lane(webhook).again = True

    def follow(self, task_id: str, owner: str, *, after: int | None = None) -> None:
        """Send the events of a task to its webhooks, each from where it is, up to the end of the turn.

        Args:
            task_id: The task.
            owner: Key of its owner.
            after: Where a webhook begins that version 0.1 stored, which did not note what was sent.
        """
        for webhook in self._configs.webhooks(task_id, owner):
            if webhook.sent is None:
                webhook.sent = after
            self._lane(webhook).again = True

    def _lane(self, webhook: Webhook) -> _Lane:
        key = (webhook.owner, webhook.config.task_id, webhook.config.id)
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = _Lane(webhook)
            lane.worker = asyncio.create_task(self._work(key, lane))
        lane.webhook = webhook
        return lane

    async def aclose(self, grace: float) -> None:
        """Give deliveries `grace` seconds, then stop. What waits for a webhook that is away is left to the next process."""
        self._closing.set()
        looking = [self._looking] if self._looking is not None else []
        await end_tasks([*looking, *self._missed])
        workers = [lane.worker for lane in self._lanes.values() if lane.worker is not None]
        if workers:
            _, late = await asyncio.wait(workers, timeout=grace)
            await end_tasks(late)
        await self._delivery.aclose()

    async def _work(self, key: Key, lane: _Lane) -> None:
        try:
            while (pause := await self._send_alone(lane)) is not None:
                if await wait_for(self._closing, pause):
                    return
        except (Suspended, Draining):  # the next process goes on
            return
        except Exception:  # a background task: the next turn or the next start goes on
            log.exception("push.worker_failed", task_id=key[1], config_id=key[2])
        finally:
            del self._lanes[key]

    async def _send_alone(self, lane: _Lane) -> float | None:
        """Send what there is while no other process does; after how many seconds to try again, where the webhook is away."""
        async with self._configs.alone(lane.webhook):
            try:
                await self._send_all(lane)
            except _Away as away:
                return away.pause
        return None

    async def _send_all(self, lane: _Lane) -> None:
        """Send what there is, and what comes while a turn is under way. Where the storage fails, try again later."""
        failed = 0
        while True:
            lane.again = False
            try:
                if await self._works(lane.webhook) or await self._is_behind(lane.webhook):
                    await self._send_turn(lane)
                elif not (await self._works(lane.webhook) or lane.again):
                    return
            except StorageError:
                failed += 1
                pause = backoff(failed, first=FIRST_PAUSE, longest=LONGEST_PAUSE)
                log.warning("push.paused", task_id=lane.webhook.config.task_id, seconds=pause)
                await asyncio.sleep(pause)
            except TaskNotFoundError:
                if (
                    not lane.again
                ):  # else a turn was submitted meanwhile, whose task the look was too early for
                    await self._note_sent(lane.webhook, None)
                    return

    async def _works(self, webhook: Webhook) -> bool:
        """Whether more may come for a webhook: a turn of its task runs, waits, or has not returned."""
        return webhook.sent is not None and await self._has_turn(webhook.config.task_id, webhook.owner)

    async def _is_behind(self, webhook: Webhook) -> bool:
        """Whether the log holds events that were not sent."""
        if webhook.sent is None:
            return False
        snapshot = await self._tasks.snapshot(webhook.config.task_id, webhook.owner)
        if snapshot is None or webhook.sent is None:  # it was deleted or replaced meanwhile
            return False
        if snapshot.sequence > webhook.sent:
            return True
        if snapshot.task.status.state in TERMINAL:
            await self._note_sent(webhook, None)
        return False

    async def _send_turn(self, lane: _Lane) -> None:
        """Send the events up to the one that settles a turn."""
        webhook = lane.webhook
        if webhook.sent is None:
            return
        before = webhook.sent
        reading = self._tasks.read(webhook.config.task_id, webhook.owner, after=webhook.sent)
        async with aclosing(reading) as entries:
            async for entry in entries:
                if _is_end(entry.event) and not await self._is_stored(webhook, entry):
                    break  # another end is stored, or will be
                await self._send(lane, entry)
        if webhook.sent == before:  # its turn writes nothing yet, or nothing more
            await asyncio.sleep(_LOOK_SECONDS)

    async def _is_stored(self, webhook: Webhook, entry: Entry) -> bool:
        """Whether the end of a task is stored: after a webhook was told of the end it hears nothing more."""
        return await self._tasks.is_stored(webhook.config.task_id, webhook.owner, entry.sequence)

    async def _send(self, lane: _Lane, entry: Entry) -> None:
        webhook = lane.webhook
        if webhook.sent is None or entry.sequence <= webhook.sent:
            return  # it was deleted, or replaced by one for later events
        if entry.settles or lane.lost < self._policy.most_lost:
            if webhook.version == LEGACY:
                failure = await self._send_legacy(lane, entry)
            else:
                failure = await self._deliver(lane, push_body.current(entry.event))
            if failure is not None:
                await self._wait_or_give_up(lane, webhook, failure, entry)
        if webhook.sent is not None:
            await self._note(lane, webhook, entry)

    async def _deliver(self, lane: _Lane, told: Notification) -> Undelivered | None:
        failure = await self._delivery.deliver(lane.webhook.config, told, owner=lane.webhook.owner)
        if failure is None:
            lane.lost, lane.pauses = 0, 0
            count(catalogue.PUSHES, outcome="delivered")
        else:
            lane.lost += 1
        return failure

    async def _wait_or_give_up(
        self, lane: _Lane, webhook: Webhook, failure: Undelivered, entry: Entry
    ) -> None:
        """Give up an event that a webhook did not take, unless it is worth waiting for the webhook.

        Raises:
            _Away: It is. What was sent before the event is noted, so that the event comes next.
        """
        names = {"task_id": webhook.config.task_id, "config_id": webhook.config.id, "reason": failure.reason}
        lasts = entry.settles and not isinstance(entry.event, Message)  # a message is stored nowhere
        if lasts and failure.is_away and webhook.sent is not None:
            pause = lane.next_pause(self._policy)
            if pause is not None:
                if lane.pauses == 1:
                    log.warning("push.waiting", **names)
                await self._note_sent(webhook, webhook.sent)
                raise _Away(pause)
        lane.pauses = 0
        count(catalogue.PUSHES, outcome="failed")
        log.warning("push.failed", **names)

    async def _send_legacy(self, lane: _Lane, entry: Entry) -> Undelivered | None:
        """Send the whole task, where an event changes its state or settles a turn, and it was not shown later already."""
        sequence, state = lane.shown
        if isinstance(entry.event, Message):
            return await self._deliver(lane, push_body.legacy(entry.event))
        if isinstance(entry.event, TaskArtifactUpdateEvent) or entry.sequence <= sequence:
            return None
        if entry.event.status.state == state and not entry.settles:
            return None
        snapshot = await self._tasks.snapshot(lane.webhook.config.task_id, lane.webhook.owner)
        if snapshot is None or (snapshot.task.status.state in TERMINAL and not _is_end(entry.event)):
            return None  # it was deleted, or its end is told once that stands
        failure = await self._deliver(lane, push_body.legacy(snapshot.task))
        if failure is None:
            lane.shown = snapshot.sequence, snapshot.task.status.state
        return failure

    async def _note(self, lane: _Lane, webhook: Webhook, entry: Entry) -> None:
        now = asyncio.get_running_loop().time()
        if isinstance(entry.event, Message) and lane.again:
            return  # the message that it answers was sent again meanwhile, and this time it may get a task
        if _is_end(entry.event):
            await self._note_sent(webhook, None)
        elif entry.settles or now - lane.noted_at >= _NOTE_SECONDS:
            lane.noted_at = now
            await self._note_sent(webhook, entry.sequence)
        else:
            webhook.sent = entry.sequence

    async def _note_sent(self, webhook: Webhook, sequence: int | None) -> None:
        """Note the last event that was sent. Where that fails, the next start sends what came since the last note again."""
        try:
            await self._configs.note_sent(webhook, sequence)
        except StorageError:
            log.warning("push.not_noted", task_id=webhook.config.task_id, config_id=webhook.config.id)


def _is_end(event: Event) -> bool:
    """Whether no event of its task follows this one, in no later turn either."""
    if isinstance(event, TaskArtifactUpdateEvent):
        return False
    return isinstance(event, Message) or event.status.state in TERMINAL
