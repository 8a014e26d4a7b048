"""Webhooks of tasks: when they are stored, whom they belong to, and what they hear."""

from __future__ import annotations

import pytest
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import InvalidParamsError, TaskNotFoundError

from tests.contract.handler.kinds import FORBIDDEN_URL, Desk, asking, duty, opened
from tests.contract.handler.test_requests import PUSH
from tests.e2e.wire.agents import Stage, echo
from tests.e2e.wire.test_life_cycle import ask
from tests.e2e.wire.test_push import Hook, listening
from utils.a2a_common.handler.webhooks import MOST_WEBHOOKS


def hooked(url: str, config_id: str = "") -> pb.SendMessageRequest:
    request = asking()
    config = pb.TaskPushNotificationConfig(url=url, id=config_id)
    request.configuration.task_push_notification_config.CopyFrom(config)
    return request


async def configs(desk: Desk, task_id: str) -> list[pb.TaskPushNotificationConfig]:
    listed = pb.ListTaskPushNotificationConfigsRequest(task_id=task_id)
    return list((await desk.handler.on_list_task_push_notification_configs(listed, desk.call)).configs)


@pytest.mark.listens
@duty()
async def test_the_webhook_of_a_message_hears_every_event_from_the_first(kind):
    hook = Hook()
    async with listening(hook) as url, opened(kind, echo) as desk:
        await desk.request(hooked(url))
        await hook.heard(4)
    assert hook.kinds() == ["task", "statusUpdate", "artifactUpdate", "statusUpdate"]


@duty()
async def test_the_webhook_of_a_message_is_stored_before_the_agent_runs(kind):
    stored: list[str] = []
    desks: list[Desk] = []

    async def look(stage: Stage) -> None:
        await stage.task()
        await desks[0].reached(stage.context.task_id or "", pb.TaskState.TASK_STATE_SUBMITTED)
        stored.extend(config.id for config in await configs(desks[0], stage.context.task_id or ""))
        await stage.status(pb.TaskState.TASK_STATE_COMPLETED)

    async with opened(kind, look) as desk:
        desks.append(desk)
        await desk.request(hooked("http://127.0.0.1:9/hook", "c"))
    assert stored == ["c"]


@duty()
async def test_a_webhook_that_the_policy_forbids_is_refused_before_the_agent_runs(kind):
    async with opened(kind, echo) as desk:
        with pytest.raises(InvalidParamsError):
            await desk.request(hooked(FORBIDDEN_URL))
        assert desk.agent.seen == []
        task = await desk.send()
        with pytest.raises(InvalidParamsError):
            await desk.handler.on_create_task_push_notification_config(
                pb.TaskPushNotificationConfig(task_id=task.id, url=FORBIDDEN_URL), desk.call
            )
        assert await configs(desk, task.id) == []


@duty()
async def test_a_configuration_without_an_id_has_that_of_its_task(kind):
    async with opened(kind, echo) as desk:
        task = await desk.request(hooked("http://127.0.0.1:9/hook"))
        (config,) = await configs(desk, task.id)
        assert (config.id, config.task_id) == (task.id, task.id)


@duty()
async def test_configurations_are_created_replaced_read_and_deleted(kind):
    async with opened(kind, echo) as desk:
        task = await desk.send()
        made = await PUSH["create"](desk, task.id)
        assert (made.id, made.task_id) == ("c", task.id)
        assert await PUSH["get"](desk, task.id) == made
        await PUSH["create"](desk, task.id)
        assert await configs(desk, task.id) == [made]
        await PUSH["delete"](desk, task.id)
        assert await configs(desk, task.id) == []
        with pytest.raises(TaskNotFoundError):
            await PUSH["get"](desk, task.id)


@duty()
@pytest.mark.parametrize("operation", PUSH)
async def test_configurations_of_a_task_that_is_unknown_or_of_another_user_are_not_found(kind, operation):
    async with opened(kind, echo) as desk:
        task = await desk.send()
        await PUSH["create"](desk, task.id)
        with pytest.raises(TaskNotFoundError):
            await PUSH[operation](desk, "nobody")
        with pytest.raises(TaskNotFoundError):
            await PUSH[operation](desk.by("bob"), task.id)
        assert len(await configs(desk, task.id)) == 1


@duty(sdk_breaks="it takes any number")
async def test_a_task_takes_so_many_webhooks_and_another_once_one_is_deleted(kind):
    async with opened(kind, ask) as desk:
        task = await desk.send()
        for number in range(MOST_WEBHOOKS):
            await desk.handler.on_create_task_push_notification_config(numbered(task.id, number), desk.call)
        with pytest.raises(InvalidParamsError):
            await desk.handler.on_create_task_push_notification_config(
                numbered(task.id, MOST_WEBHOOKS), desk.call
            )
        reply = asking("blue", task_id=task.id)
        reply.configuration.task_push_notification_config.CopyFrom(numbered(task.id, MOST_WEBHOOKS))
        with pytest.raises(InvalidParamsError):
            await desk.request(reply)
        await desk.handler.on_create_task_push_notification_config(
            numbered(task.id, 0), desk.call
        )  # replaced
        gone = pb.DeleteTaskPushNotificationConfigRequest(task_id=task.id, id="0")
        await desk.handler.on_delete_task_push_notification_config(gone, desk.call)
        await desk.request(reply)
        assert len(await configs(desk, task.id)) == MOST_WEBHOOKS


def numbered(task_id: str, number: int) -> pb.TaskPushNotificationConfig:
    return pb.TaskPushNotificationConfig(task_id=task_id, id=str(number), url="http://127.0.0.1:9/hook")
