"""Everything that somebody can try with the task of somebody else, by every method of the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from a2a.client import Client
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import A2AError, TaskNotFoundError

from tests.e2e.auth.people import RUNS, WAITS, Person
from tests.e2e.conversations.asking import URI
from tests.e2e.conversations.asking import request as about_conversation
from tests.e2e.wire.ways import asking

Try = Callable[[Client, Person, Person], Awaitable[str]]


def _sends(client: Client, request: pb.SendMessageRequest, thief: Person) -> Awaitable[str]:
    return _followed(client.send_message(request, context=thief.proof()), thief)


async def _followed(events: AsyncIterator[pb.StreamResponse], thief: Person | None = None) -> str:
    """All that comes back; what began for the thief is the thief's own."""
    told = ""
    async for event in events:
        told += str(event)
        if thief and event.HasField("task"):
            thief.begun.add(event.task.id)
    return told


async def _text(answer: Awaitable[Any]) -> str:
    return str(await answer)


def _with_message_of(kind: str, owner: Person) -> pb.SendMessageRequest:
    request = asking("Which task is mine?")
    request.message.message_id = owner.message_id(kind)
    return request


def _about(action: str, task: pb.Task) -> pb.SendMessageRequest:
    return about_conversation(action=action, contextId=task.context_id, title="mine")


def _hook(owner: Person, name: str = "") -> pb.TaskPushNotificationConfig:
    return pb.TaskPushNotificationConfig(task_id=owner.waiting.id, url="https://example.com/hook", id=name)


REFUSED: Mapping[str, tuple[str, Try]] = {
    "answer": (
        "SendMessage",
        lambda c, me, it: _sends(c, asking("blue", task_id=it.waiting.id), me),
    ),
    "answer in its conversation": (
        "SendMessage",
        lambda c, me, it: _sends(
            c, asking("blue", task_id=it.waiting.id, context_id=it.waiting.context_id), me
        ),
    ),
    "get": (
        "GetTask",
        lambda c, me, it: _text(c.get_task(pb.GetTaskRequest(id=it.waiting.id), context=me.proof())),
    ),
    "cancel": (
        "CancelTask",
        lambda c, me, it: _text(c.cancel_task(pb.CancelTaskRequest(id=it.running.id), context=me.proof())),
    ),
    "subscribe": (
        "SubscribeToTask",
        lambda c, me, it: _followed(
            c.subscribe(pb.SubscribeToTaskRequest(id=it.running.id), context=me.proof())
        ),
    ),
    "set a webhook": (
        "CreateTaskPushNotificationConfig",
        lambda c, me, it: _text(c.create_task_push_notification_config(_hook(it), context=me.proof())),
    ),
    "replace the webhook": (
        "CreateTaskPushNotificationConfig",
        lambda c, me, it: _text(
            c.create_task_push_notification_config(_hook(it, it.webhook), context=me.proof())
        ),
    ),
    "get the webhook": (
        "GetTaskPushNotificationConfig",
        lambda c, me, it: _text(
            c.get_task_push_notification_config(
                pb.GetTaskPushNotificationConfigRequest(task_id=it.waiting.id, id=it.webhook),
                context=me.proof(),
            )
        ),
    ),
    "list the webhooks": (
        "ListTaskPushNotificationConfigs",
        lambda c, me, it: _text(
            c.list_task_push_notification_configs(
                pb.ListTaskPushNotificationConfigsRequest(task_id=it.waiting.id), context=me.proof()
            )
        ),
    ),
    "delete the webhook": (
        "DeleteTaskPushNotificationConfig",
        lambda c, me, it: _text(
            c.delete_task_push_notification_config(
                pb.DeleteTaskPushNotificationConfigRequest(task_id=it.waiting.id, id=it.webhook),
                context=me.proof(),
            )
        ),
    ),
    "rename the conversation": (URI, lambda c, me, it: _sends(c, _about("rename", it.waiting), me)),
    "export the conversation": (URI, lambda c, me, it: _sends(c, _about("export", it.waiting), me)),
    "delete the conversation": (URI, lambda c, me, it: _sends(c, _about("delete", it.running), me)),
}
"""What is answered like a task that is not there: the method and the attempt."""

FRUITLESS: Mapping[str, tuple[str, Try]] = {
    "speak in its conversation": (
        "SendMessage",
        lambda c, me, it: _sends(c, asking("blue", context_id=it.waiting.context_id), me),
    ),
    "refer to it": (
        "SendMessage",
        lambda c, me, it: _sends(c, asking("Go on.", reference_task_ids=[it.waiting.id]), me),
    ),
    "repeat its question": ("SendMessage", lambda c, me, it: _sends(c, _with_message_of(WAITS, it), me)),
    "repeat its request": ("SendMessage", lambda c, me, it: _sends(c, _with_message_of(RUNS, it), me)),
    "list": ("ListTasks", lambda c, me, _: _text(c.list_tasks(pb.ListTasksRequest(), context=me.proof()))),
    "list its conversation": (
        "ListTasks",
        lambda c, me, it: _text(
            c.list_tasks(pb.ListTasksRequest(context_id=it.waiting.context_id), context=me.proof())
        ),
    ),
    "list conversations": (URI, lambda c, me, _: _sends(c, about_conversation(action="list"), me)),
}
"""What is answered, with nothing of anybody else's."""

METHODS = {method for method, _ in [*REFUSED.values(), *FRUITLESS.values()]} - {URI}


async def trespasses(client: Client, thief: Person, owner: Person) -> list[str]:
    """Try everything; what was reached."""
    reached = []
    for name, (_, attempt) in REFUSED.items():
        try:
            told = await attempt(client, thief, owner)
            reached.append(f"{thief.name} could {name} of {owner.name}: {told[:200]}")
        except TaskNotFoundError:
            pass
        except A2AError as error:
            reached.append(f"{thief.name} tried to {name} of {owner.name} and was told {error!r}")
    for name, (_, attempt) in FRUITLESS.items():
        told = await attempt(client, thief, owner)
        # a reference is told back as the thief wrote it, under another name than an id
        ids = [f'id: "{task.id}"' for task in (owner.waiting, owner.running)]
        if any(each in told for each in (owner.secret, *ids)):
            reached.append(f"{thief.name} could {name} of {owner.name}: {told[:200]}")
    return reached
