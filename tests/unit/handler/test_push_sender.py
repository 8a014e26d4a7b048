"""A webhook hears every turn of its task, however far behind it is."""

from __future__ import annotations

import asyncio

from a2a.types.a2a_pb2 import TaskPushNotificationConfig

from tests.unit.engine.turns import OWNER, Executor, House, status_of, task_of, turn
from utils.a2a_common.server.push.body import Notification
from utils.a2a_common.server.push.delivery import PushDelivery, PushPolicy
from utils.a2a_common.server.push.sender import PushSender
from utils.a2a_common.server.push.store import PushConfigs
from utils.errors import StorageError
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_store import Stored, Write

HOOK = TaskPushNotificationConfig(id="hook", url="https://x.example")
ROUNDS = 50
"""Steps of the loop after which everything that can go on has."""


class Held(PushDelivery):
    """Takes nothing before `free` is set.

    Attributes:
        heard: What it took.
    """

    def __init__(self) -> None:
        super().__init__(PushPolicy())
        self.free = asyncio.Event()
        self.heard: list[bytes] = []

    async def deliver(
        self, config: TaskPushNotificationConfig, told: Notification, *, owner: str = ""
    ) -> None:
        await self.free.wait()
        self.heard.append(told.body)


def pushing(house: House) -> tuple[PushConfigs, Held, PushSender]:
    """The webhooks of a process, what takes their notifications, and what sends them."""
    configs, delivery = PushConfigs(), Held()
    push = PushSender(house.log, configs, PushPolicy(), house.engine.has_turn)
    push._delivery = delivery
    return configs, delivery, push


async def ask_twice(context, queue) -> None:
    if context.current_task is None:
        await queue.enqueue_event(task_of(context))
    last = context.message.message_id == "m-3"
    await queue.enqueue_event(status_of(context, "completed" if last else "input_required", "Which?"))


async def test_a_webhook_that_is_two_turns_behind_hears_the_turn_that_waits_as_well() -> None:
    house = House(Executor(ask_twice), max_turns=1)
    configs, delivery, push = pushing(house)
    await configs.put("a", OWNER, HOOK, after=0)
    for message_id in ("m-1", "m-2"):
        await house.submit(turn("a", message_id=message_id))
        push.follow("a", OWNER)
        await house.settled("a")
    house.executor.gate.clear()
    await house.submit(turn("other"))
    await house.submit(turn("a", message_id="m-3"))
    push.follow("a", OWNER)
    delivery.free.set()
    for _ in range(ROUNDS):
        await asyncio.sleep(0)
    assert not any(b"COMPLETED" in body for body in delivery.heard)
    house.executor.gate.set()
    await house.settled("a")
    async with asyncio.timeout(60):
        while configs.unfinished():
            await asyncio.sleep(0)
    assert b"COMPLETED" in delivery.heard[-1]
    await push.aclose(1)


class Full(MemoryTaskLogStore):
    """Storage that takes nothing while `broken`."""

    broken = False

    async def append(self, write: Write) -> None:
        if self.broken:
            raise StorageError("The disk is full.")
        await super().append(write)


async def test_a_webhook_is_not_told_of_an_end_before_that_is_stored() -> None:
    begun = asyncio.Event()

    async def until_broken(context, queue) -> None:
        await queue.enqueue_event(task_of(context))
        begun.set()
        await gone.wait()
        await queue.enqueue_event(status_of(context, "working"))

    gone = asyncio.Event()
    store = Full()
    house = House(Executor(until_broken), store)
    configs, delivery, push = pushing(house)
    delivery.free.set()
    await configs.put("a", OWNER, HOOK, after=0)
    await house.submit(turn("a"))
    push.follow("a", OWNER)
    await begun.wait()
    store.broken = True
    gone.set()
    assert await house.settled("a") == ["failed"]
    for _ in range(ROUNDS):
        await asyncio.sleep(0)
    assert not any(b"FAILED" in body for body in delivery.heard)
    assert configs.unfinished()
    store.broken = False
    async with asyncio.timeout(60):
        while configs.unfinished():
            await asyncio.sleep(0.01)
    assert b"FAILED" in delivery.heard[-1]
    await push.aclose(1)


class SlowLook(MemoryTaskLogStore):
    """Storage whose first look waits for `go_on`."""

    def __init__(self) -> None:
        super().__init__()
        self.looking, self.go_on = asyncio.Event(), asyncio.Event()

    async def look(self, task_id: str, owner: str) -> Stored | None:
        if not self.looking.is_set():
            self.looking.set()
            await self.go_on.wait()
        return await super().look(task_id, owner)


async def test_a_webhook_that_is_stored_again_while_its_worker_looks_hears_the_turn() -> None:
    store = SlowLook()
    house = House(Executor(), store)
    configs, delivery, push = pushing(house)
    delivery.free.set()
    await configs.put("a", OWNER, HOOK, after=0)
    push.follow("a", OWNER)  # of a turn that was not accepted
    await store.looking.wait()
    await configs.put("a", OWNER, HOOK, after=0)
    await house.submit(turn("a"))
    push.follow("a", OWNER)
    assert await house.settled("a") == ["completed"]
    store.go_on.set()
    async with asyncio.timeout(60):
        while configs.unfinished():
            await asyncio.sleep(0.01)
    assert b"COMPLETED" in delivery.heard[-1]
    await push.aclose(1)


class FullForTheFirst(MemoryTaskLogStore):
    """Storage that takes nothing of the first attempt while `broken`."""

    broken = False

    async def append(self, write: Write) -> None:
        if self.broken and write.attempt == 1:
            raise StorageError("The disk is full.")
        await super().append(write)


async def test_of_two_ends_a_webhook_is_told_the_one_that_is_stored() -> None:
    begun, gone = asyncio.Event(), asyncio.Event()

    async def until_broken(context, queue) -> None:
        await queue.enqueue_event(task_of(context))
        begun.set()
        await gone.wait()
        await queue.enqueue_event(status_of(context, "failed", "No more."))

    store = FullForTheFirst()
    house = House(Executor(until_broken), store)
    configs, delivery, push = pushing(house)
    delivery.free.set()
    await configs.put("a", OWNER, HOOK, after=0)
    await house.submit(turn("a"))
    push.follow("a", OWNER)
    await begun.wait()
    store.broken = True
    gone.set()
    assert await house.settled("a") == ["failed"]
    other = house.next(Executor())
    await other.submit(turn("a"))
    assert await other.settled("a") == ["completed"]
    store.broken = False
    async with asyncio.timeout(60):
        while configs.unfinished():
            await asyncio.sleep(0.01)
    assert b"COMPLETED" in delivery.heard[-1]
    assert not any(b"FAILED" in body for body in delivery.heard)
    assert await house.state("a") == "completed"
    await push.aclose(1)
