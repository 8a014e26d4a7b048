"""A webhook is told in the version of the protocol in which it was registered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from a2a.compat.v0_3.types import Task
from a2a.types.a2a_pb2 import TaskPushNotificationConfig

from tests.e2e.wire.agents import echo
from tests.e2e.wire.test_life_cycle import ask
from tests.e2e.wire.test_push import PRIVATE, Hook, listening
from tests.e2e.wire.test_push_configs import Plain
from tests.e2e.wire.test_push_restart import process
from tests.e2e.wire.ways import WAYS, Way, answer, asking, served
from tests.e2e.wire.wiring import Wire, serving
from utils.testing.scripted_model import ScriptedModel

OF_0_3 = {"A2A-Version": "0.3"}


def old(text: str, **fields: Any) -> dict[str, Any]:
    part = {"kind": "text", "text": text}
    return {"kind": "message", "messageId": f"m-{text}", "role": "user", "parts": [part], **fields}


async def send_old(wire: Wire, url: str, text: str = "hi") -> dict[str, Any]:
    configuration = {"pushNotificationConfig": {"url": url, "token": "t"}, "blocking": True}
    params = {"message": old(text), "configuration": configuration}
    task: dict[str, Any] = (await wire.rpc("message/send", params, OF_0_3))["result"]
    return task


def told(hook: Hook) -> list[Task]:
    """What it got, as a receiver of 0.3 reads it."""
    assert {headers["content-type"] for headers, _ in hook.requests} == {"application/json"}
    assert {body["kind"] for _, body in hook.requests} == {"task"}
    return [Task.model_validate(body) for _, body in hook.requests]


async def until_state(hook: Hook, state: str) -> None:
    while not hook.requests or hook.requests[-1][1]["status"]["state"] != state:
        await hook.heard(len(hook.requests) + 1)


async def test_a_webhook_of_0_3_gets_the_whole_task_of_0_3_whenever_its_state_changes() -> None:
    hook = Hook()
    async with listening(hook) as url, serving(echo, settings=PRIVATE) as wire:
        task = await send_old(wire, url)
        await until_state(hook, "completed")
    last = told(hook)[-1]
    assert last.id == task["id"]
    assert last.artifacts is not None
    assert last.artifacts[0].parts[0].root.model_dump()["text"] == "hi"
    states = [body["status"]["state"] for _, body in hook.requests]
    assert states == sorted(set(states), key=states.index)
    assert hook.requests[-1][0]["x-a2a-notification-token"] == "t"


async def test_a_webhook_that_is_set_by_the_method_of_0_3_gets_that_form_also_after_a_restart(
    tmp_path: Path,
) -> None:
    hook = Hook()
    async with listening(hook) as url:
        async with process(tmp_path, ask) as wire:
            task_id = (await wire.send())["id"]
            config = {"taskId": task_id, "pushNotificationConfig": {"id": "c", "url": url}}
            made = await wire.rpc("tasks/pushNotificationConfig/set", config, OF_0_3)
            assert made["result"]["pushNotificationConfig"]["url"] == url
        async with process(tmp_path, ask) as wire:
            await wire.send(text="blue", taskId=task_id)
            await until_state(hook, "completed")
    assert told(hook)[-1].id == task_id


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_webhook_is_told_in_the_version_of_its_registration_over_every_binding(
    way: Way, tmp_path: Path
) -> None:
    hook, model = Hook(), ScriptedModel.of("Hello.")
    request = asking("hi")
    async with (
        listening(hook) as url,
        served(Plain, model, tmp_path, **PRIVATE) as place,
        place.client(way, streaming=False) as client,
    ):
        given = TaskPushNotificationConfig(url=url)
        request.configuration.task_push_notification_config.CopyFrom(given)
        await answer(client, request)
        await hook.heard(1)
    _, first = hook.requests[0]
    assert ("kind" in first) == (way.version == "0.3")
    assert ("task" in first) == (way.version == "1.0")


async def test_a_webhook_is_got_without_its_id_as_0_3_allows_it() -> None:
    async with serving(echo, settings=PRIVATE) as wire:
        task_id = (await wire.send())["id"]
        asked = {"id": task_id}
        none = await wire.rpc("tasks/pushNotificationConfig/get", asked, OF_0_3)
        assert none["error"]["code"] == -32001
        got = []
        for name in ("b", "a", ""):
            config = {"url": "http://127.0.0.1:9/hook", **({"id": name} if name else {})}
            given = {"taskId": task_id, "pushNotificationConfig": config}
            await wire.rpc("tasks/pushNotificationConfig/set", given, OF_0_3)
            answered = await wire.rpc("tasks/pushNotificationConfig/get", asked, OF_0_3)
            got.append(answered["result"]["pushNotificationConfig"]["id"])
        assert got == [
            "b",
            "a",
            task_id,
        ]  # the first by id, until there is the one that was set without an id
        current = await wire.rpc("GetTaskPushNotificationConfig", {"taskId": task_id, "id": ""})
        assert "error" in current
