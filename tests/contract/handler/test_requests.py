"""What a request handler refuses before an agent hears of it, and what it leaves out of an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import (
    ContentTypeNotSupportedError,
    ExtendedAgentCardNotConfiguredError,
    InvalidParamsError,
    PushNotificationNotSupportedError,
    UnsupportedOperationError,
)

from tests.contract.handler.kinds import Desk, asking, duty, opened, read, said, texts
from tests.e2e.wire.agents import card, echo
from tests.e2e.wire.test_life_cycle import ask

WITHOUT: dict[str, dict[str, Any]] = {"parts": {"parts": []}, "id": {"message_id": ""}}


def without(capability: str) -> pb.AgentCard:
    shown = card()
    setattr(shown.capabilities, capability, False)
    return shown


@duty()
@pytest.mark.parametrize("missing", WITHOUT)
async def test_a_message_without_a_required_field_is_refused_before_the_agent_sees_it(kind, missing):
    async with opened(kind, echo) as desk:
        with pytest.raises(InvalidParamsError):
            await desk.send(**WITHOUT[missing])
        with pytest.raises(InvalidParamsError):
            await desk.stream(**WITHOUT[missing])
        assert desk.agent.seen == []


OPERATIONS: dict[str, Callable[[Desk], Any]] = {
    "get": lambda desk: desk.handler.on_get_task(pb.GetTaskRequest(), desk.call),
    "cancel": lambda desk: desk.handler.on_cancel_task(pb.CancelTaskRequest(), desk.call),
    "subscribe": lambda desk: read(desk.following("")),
}


@duty()
@pytest.mark.parametrize("operation", OPERATIONS)
async def test_an_operation_without_the_id_of_its_task_is_refused(kind, operation):
    async with opened(kind, echo) as desk:
        with pytest.raises(InvalidParamsError):
            await OPERATIONS[operation](desk)


@duty()
async def test_streams_are_refused_where_the_card_announces_none(kind):
    async with opened(kind, echo, shown=without("streaming")) as desk:
        with pytest.raises(UnsupportedOperationError):
            await desk.stream()
        with pytest.raises(UnsupportedOperationError):
            await read(desk.following((await desk.send()).id))
        assert len(desk.agent.seen) == 1


PUSH: dict[str, Callable[[Desk, str], Any]] = {
    "create": lambda desk, task: desk.handler.on_create_task_push_notification_config(
        pb.TaskPushNotificationConfig(task_id=task, id="c", url="http://127.0.0.1:9/"), desk.call
    ),
    "get": lambda desk, task: desk.handler.on_get_task_push_notification_config(
        pb.GetTaskPushNotificationConfigRequest(task_id=task, id="c"), desk.call
    ),
    "list": lambda desk, task: desk.handler.on_list_task_push_notification_configs(
        pb.ListTaskPushNotificationConfigsRequest(task_id=task), desk.call
    ),
    "delete": lambda desk, task: desk.handler.on_delete_task_push_notification_config(
        pb.DeleteTaskPushNotificationConfigRequest(task_id=task, id="c"), desk.call
    ),
}


@duty()
@pytest.mark.parametrize("operation", PUSH)
async def test_push_configurations_are_refused_where_the_card_announces_none(kind, operation):
    async with opened(kind, echo, shown=without("push_notifications")) as desk:
        task = await desk.send()
        with pytest.raises(PushNotificationNotSupportedError):
            await PUSH[operation](desk, task.id)


async def extended(desk: Desk) -> pb.AgentCard:
    return await desk.handler.on_get_extended_agent_card(pb.GetExtendedAgentCardRequest(), desk.call)


@duty()
async def test_the_extended_card_is_given_where_it_is_announced(kind):
    async with opened(kind, echo, extended=pb.AgentCard(name="More")) as desk:
        assert (await extended(desk)).name == "More"


@duty()
async def test_the_extended_card_is_refused_where_none_is_announced_or_none_is_there(kind):
    async with opened(kind, echo, shown=without("extended_agent_card"), extended=card()) as desk:
        with pytest.raises(UnsupportedOperationError):
            await extended(desk)
    async with opened(kind, echo) as desk:
        with pytest.raises(ExtendedAgentCardNotConfiguredError):
            await extended(desk)


@duty()
async def test_a_negative_history_length_is_refused(kind):
    async with opened(kind, echo) as desk:
        task = await desk.send()
        with pytest.raises(InvalidParamsError):
            await desk.send(history=-1)
        with pytest.raises(InvalidParamsError):
            await desk.stream(history=-1)
        with pytest.raises(InvalidParamsError):
            await desk.get(task.id, history_length=-1)
        with pytest.raises(InvalidParamsError):
            await desk.list(history_length=-1)
        assert len(desk.agent.seen) == 1


@duty()
@pytest.mark.parametrize("size", [0, -1, 101])
async def test_a_page_of_no_tasks_or_of_more_than_a_hundred_is_refused(kind, size):
    async with opened(kind, echo) as desk:
        with pytest.raises(InvalidParamsError):
            await desk.list(page_size=size)


@duty()
async def test_a_media_type_that_the_card_does_not_name_is_refused(kind):
    async with opened(kind, echo) as desk:
        with pytest.raises(ContentTypeNotSupportedError):
            await desk.send(parts=[pb.Part(raw=b"%PDF", media_type="application/pdf")])
        assert desk.agent.seen == []


@duty()
async def test_history_is_shortened_where_it_is_asked_for(kind):
    async with opened(kind, ask) as desk:
        asked = await desk.send("first")
        answered = await desk.send("second", task_id=asked.id, context_id=asked.context_id, history=1)
        assert said(answered) == ["second"]
        assert said(await desk.get(asked.id, history_length=1)) == ["second"]
        assert said(await desk.get(asked.id, history_length=0)) == []
        assert said(await desk.get(asked.id)) == ["first", "second"]
        assert [said(task) for task in await desk.list(history_length=1)] == [["second"]]
        assert [said(task) for task in await desk.list()] == [["first", "second"]]


@duty()
async def test_the_task_of_a_stream_has_the_history_that_was_asked_for(kind):
    async with opened(kind, echo) as desk:
        bare, whole = await desk.stream("one", history=0), await desk.stream("two")
        assert isinstance(bare[0], pb.Task)
        assert isinstance(whole[0], pb.Task)
        assert (said(bare[0]), said(whole[0])) == ([], ["two"])


@duty()
async def test_a_list_leaves_artifacts_out_unless_they_are_asked_for(kind):
    async with opened(kind, echo) as desk:
        await desk.send("hello")
        assert [texts(task) for task in await desk.list()] == [[]]
        assert [texts(task) for task in await desk.list(include_artifacts=True)] == [["hello"]]


@duty()
async def test_tasks_are_listed_by_context_and_state_and_page_by_page(kind):
    async with opened(kind, echo) as desk:
        ids = {(await desk.send(context_id="here")).id for _ in range(3)}
        await desk.send(context_id="elsewhere")
        assert {task.id for task in await desk.list(context_id="here")} == ids
        assert await desk.list(context_id="here", status=pb.TaskState.TASK_STATE_WORKING) == []
        found: list[str] = []
        token = ""
        while True:
            asked = pb.ListTasksRequest(context_id="here", page_size=2, page_token=token)
            page = await desk.handler.on_list_tasks(asked, desk.call)
            assert page.total_size == 3
            found += [task.id for task in page.tasks]
            if not (token := page.next_page_token):
                break
        assert (sorted(found), len(found)) == (sorted(ids), 3)


@duty()
@pytest.mark.parametrize("operation", ["get", "cancel", "subscribe", "send"])
async def test_a_task_of_another_user_is_not_found(kind, operation):
    from a2a.utils.errors import TaskNotFoundError

    async with opened(kind, ask) as desk:
        task, bob = await desk.send(), desk.by("bob")
        ways: dict[str, Callable[[], Any]] = {
            "get": lambda: bob.get(task.id),
            "cancel": lambda: bob.cancel(task.id),
            "subscribe": lambda: read(bob.following(task.id)),
            "send": lambda: bob.request(asking(task_id=task.id)),
        }
        with pytest.raises(TaskNotFoundError):
            await ways[operation]()
        assert await bob.list() == []
