"""A webhook hears every turn of its task, however far behind it is."""

from __future__ import annotations

import asyncio

from a2a.types.a2a_pb2 import TaskPushNotificationConfig

from tests.unit.engine.turns import OWNER, Executor, House, status_of, task_of, turn
from utils.a2a_common.server.push import PushSender
from utils.a2a_common.server.push_delivery import PushDelivery, PushPolicy
from utils.a2a_common.server.push_store import PushConfigs

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

    async def deliver(self, config: TaskPushNotificationConfig, body: bytes) -> bool:
        await self.free.wait()
        self.heard.append(body)
        return True


async def ask_twice(context, queue) -> None:
    if context.current_task is None:
        await queue.enqueue_event(task_of(context))
    last = context.message.message_id == "m-3"
    await queue.enqueue_event(status_of(context, "completed" if last else "input_required", "Which?"))


async def test_a_webhook_that_is_two_turns_behind_hears_the_turn_that_waits_as_well() -> None:
    house = House(Executor(ask_twice), max_turns=1)
    configs, delivery = PushConfigs(), Held()
    push = PushSender(house.log, configs, PushPolicy(), house.engine.under_way)
    push._delivery = delivery
    await configs.put("a", OWNER, TaskPushNotificationConfig(id="hook", url="https://x.example"), after=0)
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
