"""The webhook of a message that comes again."""

from __future__ import annotations

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import SendMessageConfiguration, TaskPushNotificationConfig

from utils.a2a_common.handler.webhooks import Webhooks
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.server.push.store import PushConfigs
from utils.a2a_common.tasks.log import TaskLog
from utils.persistence.task_log_memory import MemoryTaskLogStore

GIVEN = SendMessageConfiguration(
    task_push_notification_config=TaskPushNotificationConfig(id="mine", url="https://hooks.example.com")
)

CALL = ServerCallContext()


class Nobody:
    """Sends nothing."""

    def follow(self, task_id: str, owner: str, *, after: int | None = None) -> None: ...


async def anything(_: str) -> None:
    """Every URL may be called."""


def webhooks(configs: PushConfigs) -> Webhooks:
    return Webhooks(TaskLog(MemoryTaskLogStore()), configs, Nobody(), anything)


async def test_a_message_that_comes_again_stores_the_webhook_that_its_task_has_not_got_and_moves_no_other() -> (
    None
):
    configs = PushConfigs()
    hooks = webhooks(configs)
    await hooks.add(GIVEN, "task", CALL, after=7)
    assert [each.sent for each in configs.webhooks("task", owner_of(CALL))] == [7]
    await hooks.add(GIVEN, "task", CALL, after=9)
    assert [each.sent for each in configs.webhooks("task", owner_of(CALL))] == [7]
    await hooks.add(SendMessageConfiguration(), "other", CALL, after=0)
    assert list(configs.of_task("other", owner_of(CALL))) == []
