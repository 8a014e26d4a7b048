"""What the look for old conversations deletes, leaves and repeats."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from a2a.types.a2a_pb2 import TaskPushNotificationConfig

from tests.unit.engine.turns import OWNER, Executor, House, turn
from utils.a2a_common.server.deletion import DeletionPlan
from utils.a2a_common.server.push.store import PushConfigs
from utils.a2a_common.server.retention import BATCH, Retention, how_many
from utils.errors import StorageError
from utils.observability.metrics import process_metrics
from utils.persistence.runs import conversation_key
from utils.persistence.task_log_store import IdleContext

DAY = 86_400
KEY = conversation_key(OWNER, "c")
FAILING = "platform_engineer_background_failing"


class Kept:
    """Two agents' worth of other storage: notes what is to be forgotten, and may fail."""

    def __init__(self) -> None:
        self.forgotten: list[tuple[str, tuple[str, ...]]] = []
        self.fails = False

    async def forget(self, idle: IdleContext) -> None:
        if self.fails:
            raise StorageError("The database failed. Try again.")
        self.forgotten.append((idle.context_id, idle.task_ids))


def retention(
    house: House, kept: Kept, *, days_later: float, webhooks: PushConfigs | None = None
) -> Retention:
    now = time.time() + days_later * DAY
    plan = DeletionPlan(kept.forget, days=30)
    return Retention(plan, house.log, webhooks or PushConfigs(), house.engine, now=lambda: now)


async def test_what_nobody_went_on_with_is_deleted_with_its_webhooks_and_nothing_earlier() -> None:
    house, kept, webhooks = House(Executor()), Kept(), PushConfigs()
    await house.submit(turn("a"))
    assert await house.settled("a") == ["completed"]
    config = TaskPushNotificationConfig(id="w", task_id="a", url="https://example.com")
    await webhooks.put("a", OWNER, config, after=0)
    assert await retention(house, kept, days_later=29, webhooks=webhooks).look() == 0
    assert await house.state("a") == "completed"
    assert await retention(house, kept, days_later=31, webhooks=webhooks).look() == 1
    assert await house.state("a") == ""
    assert webhooks.of_task("a", OWNER) == []
    assert kept.forgotten == [("c", ("a",))]


async def test_a_conversation_with_a_turn_under_way_is_left_alone() -> None:
    house, kept = House(Executor(begins_with_task=True)), Kept()
    await house.submit(turn("done", conversation=KEY))
    assert await house.settled("done") == ["completed"]
    house.executor.gate.clear()
    await house.submit(turn("works", conversation=KEY))
    await house.executor.begun(2)
    assert await retention(house, kept, days_later=31).look() == 0
    assert kept.forgotten == []
    house.executor.gate.set()
    assert await house.settled("works") == ["completed"]


@pytest.mark.parametrize("plan", [{"days": 30}, {"limits": {"tasks": 1}}], ids=["old", "too much"])
async def test_a_conversation_that_somebody_goes_on_with_after_it_was_found_is_kept_whole(
    plan: dict[str, Any],
) -> None:
    house, forgotten = House(Executor()), list[str]()

    async def forget(idle: IdleContext) -> None:
        """While the first one is deleted, its user goes on with the second."""
        forgotten.append(idle.context_id)
        if idle.context_id == "first":
            await ended(house, "again", context="second")

    async def in_use() -> dict[str, int]:
        return {"tasks": 8 * (not forgotten)}  # as much as both are deleted for

    await ended(house, "one", context="first")
    await ended(house, "two", context="second")
    rules = DeletionPlan(forget, **plan, in_use=in_use)
    later = Retention(rules, house.log, PushConfigs(), house.engine, now=lambda: time.time() + 31 * DAY)
    assert await later.look() == 1
    assert forgotten == ["first"]
    assert [await house.state(name) for name in ("one", "two", "again")] == ["", "completed", "completed"]


async def test_a_deletion_that_failed_in_the_middle_is_repeated() -> None:
    house, kept = House(Executor()), Kept()
    await house.submit(turn("a"))
    assert await house.settled("a") == ["completed"]
    kept.fails = True
    with pytest.raises(StorageError):
        await retention(house, kept, days_later=31).look()
    assert await house.state("a") == "completed"
    kept.fails = False
    assert await retention(house, kept, days_later=31).look() == 1
    assert await house.state("a") == ""


async def test_the_oldest_conversations_go_until_what_is_stored_is_below_its_limit() -> None:
    house, kept = House(Executor()), Kept()
    for number in range(30):
        await house.submit(turn(f"t{number}", context=f"c{number}"))
        assert await house.settled(f"t{number}") == ["completed"]
    assert await of_size(house, kept, each=100, limit=3_000).look() == 0
    assert await of_size(house, kept, each=100, limit=1_000).look() == 20
    assert [context for context, _ in kept.forgotten] == [f"c{number}" for number in range(20)]
    assert await house.state("t20") == "completed"


async def test_a_conversation_with_a_turn_that_has_not_ended_is_not_deleted_for_its_size() -> None:
    house, kept = House(Executor(begins_with_task=True)), Kept()
    house.executor.gate.clear()
    await house.submit(turn("works"))
    await house.executor.begun(1)
    assert await of_size(house, kept, each=100, limit=50).look() == 0
    house.executor.gate.set()
    assert await house.settled("works") == ["completed"]
    assert await of_size(house, kept, each=100, limit=50).look() == 1


async def test_what_an_agent_holds_besides_ended_conversations_ends_the_look() -> None:
    house, kept = House(Executor()), Kept()
    await house.submit(turn("a"))
    assert await house.settled("a") == ["completed"]
    assert await of_size(house, kept, each=100, limit=50, base=80).look() == 1
    assert kept.forgotten == [("c", ("a",))]


@pytest.mark.parametrize(
    ("size", "conversations", "deleted", "freed", "wanted"),
    [
        (1_300, 13, 0, 0, 3),  # each is as large as the average
        (1_301, 13, 0, 0, 4),
        (1_300, 13, 8, 1_200, 2),  # the oldest ones are larger than the average
        (1_300, 13, 8, 1, 3),  # as much was written meanwhile as they freed
        (1_300, 13, 8, -500, 3),
        (1_001, 13, 8, 800, 1),
        (9_000, 1, 0, 0, 1),
        (90_000, 900, 8, 800, BATCH),
    ],
)
def test_the_next_batch_is_no_larger_than_what_is_too_much(
    size: int, conversations: int, deleted: int, freed: int, wanted: int
) -> None:
    assert how_many(size, 1_000, conversations, deleted=deleted, freed=freed) == wanted


async def test_what_is_written_while_conversations_are_deleted_deletes_none_that_could_stay() -> None:
    house, kept = House(Executor()), Kept()
    for number in range(30):
        await house.submit(turn(f"t{number}", context=f"c{number}"))
        assert await house.settled(f"t{number}") == ["completed"]

    async def in_use() -> dict[str, int]:
        """While the first ones are deleted, as many come."""
        if 0 < len(kept.forgotten) < 10:
            for number in range(len(kept.forgotten)):
                await house.submit(turn(f"n{number}", context=f"n{number}"))
                assert await house.settled(f"n{number}") == ["completed"]
        return {"tasks": 100 * len(await house.log.idle(2**62, 1_000)) - bool(kept.forgotten)}

    plan = DeletionPlan(kept.forget, limits={"tasks": 2_000}, in_use=in_use)
    assert await Retention(plan, house.log, PushConfigs(), house.engine).look() == 18


def of_size(house: House, kept: Kept, *, each: int, limit: int, base: int = 0) -> Retention:
    """Where each conversation takes `each` bytes beside `base`."""

    async def in_use() -> dict[str, int]:
        return {"tasks": base + each * len(await house.log.idle(2**62, 1_000))}

    plan = DeletionPlan(kept.forget, limits={"tasks": limit}, in_use=in_use)
    return Retention(plan, house.log, PushConfigs(), house.engine)


async def test_a_message_that_comes_while_its_conversation_is_deleted_waits_and_begins_it_anew() -> None:
    house = House(Executor())
    await house.submit(turn("old", conversation=KEY))
    assert await house.settled("old") == ["completed"]
    deleting, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Kept):
        async def forget(self, idle: IdleContext) -> None:
            deleting.set()
            await go_on.wait()
            await super().forget(idle)

    look = asyncio.create_task(retention(house, Slow(), days_later=31).look())
    await deleting.wait()
    await house.submit(turn("new", conversation=KEY))
    assert house.executor.began == ["old"]
    go_on.set()
    assert await look == 1
    assert await house.settled("new") == ["completed"]
    assert await house.state("old") == ""


def fragile(house: House, refused: set[str], forgotten: list[str], **options: Any) -> Retention:
    """Looks of an agent whose own hook raises for some conversations, a month later."""

    async def forget(idle: IdleContext) -> None:
        if idle.context_id in refused:
            raise KeyError(idle.context_id)
        forgotten.append(idle.context_id)

    plan = DeletionPlan(forget, days=30, **options)
    return Retention(plan, house.log, PushConfigs(), house.engine, now=lambda: time.time() + 31 * DAY)


async def ended(house: House, *names: str, context: str = "") -> None:
    for name in names:
        await house.submit(turn(name, context=context or name))
        assert await house.settled(name) == ["completed"]


async def test_a_conversation_whose_deletion_fails_keeps_no_other_and_is_tried_again() -> None:
    house, refused, forgotten = House(Executor()), {f"c{number}" for number in range(BATCH)}, list[str]()
    await ended(house, *sorted(refused), "last")
    looks = fragile(house, refused, forgotten)
    with pytest.raises(KeyError):
        await looks.look()
    assert forgotten == ["last"]
    assert await house.state("last") == ""
    assert await house.state("c0") == "completed"
    refused.clear()
    assert await looks.look() == BATCH


async def test_the_looks_go_on_after_one_that_failed() -> None:
    house, refused, forgotten = House(Executor()), {"a"}, list[str]()
    await ended(house, "a")
    looks = fragile(house, refused, forgotten, look_seconds=0.01)
    failing = process_metrics().registry
    looks.start()
    async with asyncio.timeout(30):
        while not failing.get_sample_value(FAILING, {"loop": "retention"}):
            await asyncio.sleep(0)
        refused.clear()
        while not forgotten or failing.get_sample_value(FAILING, {"loop": "retention"}):
            await asyncio.sleep(0)
    await looks.stop()
    assert forgotten == ["a"]
