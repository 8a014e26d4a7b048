"""Push notification configurations over the wire: what is refused when one is stored, and their pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from a2a.types.a2a_pb2 import (
    AuthenticationInfo,
    ListTasksRequest,
    SendMessageRequest,
    TaskPushNotificationConfig,
)
from a2a.utils.errors import A2AError

from tests.e2e.wire.agents import echo
from tests.e2e.wire.test_push import PRIVATE, Hook, listening
from tests.e2e.wire.ways import WAYS, Way, answer, asking, served
from tests.e2e.wire.wiring import HEADERS, Wire, serving
from utils.a2a_common import BaseLangGraphAgent
from utils.a2a_common.server.push.body import Notification
from utils.a2a_common.server.push.delivery import PushDelivery, PushPolicy
from utils.testing.scripted_model import ScriptedModel

HOOK = "http://127.0.0.1:9/hook"
UNSENDABLE = {
    "letter": {"token": "tök"},
    "line break": {"token": "line\nbreak"},
    "space at the end": {"token": "token "},
    "control character": {"token": "tok\x7fen"},
    "credentials": {"authentication": {"scheme": "Bearer", "credentials": "gehëim"}},
    "scheme": {"authentication": {"scheme": "Bearer\r\nX", "credentials": "secret"}},
}


class Plain(BaseLangGraphAgent):
    name = "plain"
    description = "Does the usual."


def config(**fields: Any) -> TaskPushNotificationConfig:
    return TaskPushNotificationConfig(url=HOOK, **fields)


def asking_with(hook: TaskPushNotificationConfig) -> SendMessageRequest:
    request = asking("hi")
    request.configuration.task_push_notification_config.CopyFrom(hook)
    return request


def refused(way: Way, field: str) -> Any:
    """What the SDK's client raises for a field that is refused; that of HTTP+JSON 0.3 drops the sentence."""
    sentence = re.escape(f"The {field} of the push notification configuration cannot be sent")
    return pytest.raises(A2AError, match="400 Bad Request" if str(way) == "HTTP+JSON 0.3" else sentence)


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_token_that_no_header_can_carry_is_refused_over_every_binding(
    way: Way, tmp_path: Path
) -> None:
    model = ScriptedModel.of("Hello.")
    async with (
        served(Plain, model, tmp_path, **PRIVATE) as place,
        place.client(way, streaming=False) as client,
    ):
        with refused(way, "token"):
            await answer(client, asking_with(config(token="tök")))
        assert model.requests == []
        (event,) = await answer(client, asking("hi"))
        secret = AuthenticationInfo(scheme="Bearer", credentials="gehëim")
        hook = config(task_id=event.task.id, id="c", authentication=secret)
        with refused(way, "authentication.credentials"):
            await client.create_task_push_notification_config(hook)


@pytest.mark.parametrize("fields", UNSENDABLE.values(), ids=UNSENDABLE)
async def test_what_no_header_can_carry_is_refused_with_a_sentence_that_does_not_repeat_it(
    fields: dict[str, Any],
) -> None:
    async with serving(echo, settings=PRIVATE) as wire:
        task_id = (await wire.send())["id"]
        given = {"taskId": task_id, "id": "c", "url": HOOK, **fields}
        refused = (await wire.rpc("CreateTaskPushNotificationConfig", given))["error"]
        listed = (await wire.rpc("ListTaskPushNotificationConfigs", {"taskId": task_id}))["result"]
    assert refused["code"] == -32602
    assert "cannot be sent in an HTTP header" in refused["message"]
    assert not any(part in str(refused) for part in ("tök", "break\n", "gehëim", "secret"))
    assert listed == {}


async def test_a_token_with_spaces_and_signs_is_sent_as_it_is() -> None:
    hook, token = Hook(), "a b\t!#$%&'()*+,-./:;<=>?@[]^_`{|}~"
    async with listening(hook) as url, serving(echo, settings=PRIVATE) as wire:
        task_id = (await wire.send())["id"]
        config = {"taskId": task_id, "id": "c", "url": url, "token": token}
        assert (await wire.rpc("CreateTaskPushNotificationConfig", config))["result"]["token"] == token
        await PushDelivery(PushPolicy(allow_private=True)).deliver(
            TaskPushNotificationConfig(url=url, token=token), Notification(b"{}")
        )
        await hook.heard(1)
    assert hook.requests[0][0]["x-a2a-notification-token"] == token


async def test_a_token_that_was_stored_before_it_was_checked_ends_as_a_delivery_that_failed() -> None:
    delivery = PushDelivery(PushPolicy(allow_private=True))
    failure = await delivery.deliver(config(token="tök"), Notification(b"{}"))
    assert failure is not None
    assert not failure.is_away
    await delivery.aclose()


async def hooked(wire: Wire, *names: str) -> str:
    """A task with these webhooks."""
    task_id: str = (await wire.send())["id"]
    for name in names:
        given = {"taskId": task_id, "id": name, "url": HOOK}
        assert "result" in await wire.rpc("CreateTaskPushNotificationConfig", given)
    return task_id


async def test_webhooks_are_listed_in_pages_of_the_size_that_is_asked_for() -> None:
    async with serving(echo, settings=PRIVATE) as wire:
        task_id = await hooked(wire, "c", "a", "ü+/", "b")
        rest = f"{wire.url}/rest/tasks/{task_id}/pushNotificationConfigs"
        seen: list[list[str]] = []
        token = ""
        while token or not seen:
            asked = {"taskId": task_id, "pageSize": 2, "pageToken": token}
            page = (await wire.rpc("ListTaskPushNotificationConfigs", asked))["result"]
            query = {name: str(value) for name, value in asked.items() if name != "taskId" and value}
            assert (await wire.http.get(rest, params=query, headers=HEADERS)).json() == page
            seen.append([each["id"] for each in page["configs"]])
            token = page.get("nextPageToken", "")
        whole = (await wire.rpc("ListTaskPushNotificationConfigs", {"taskId": task_id}))["result"]
    assert seen == [["a", "b"], ["c", "ü+/"]]
    assert [each["id"] for each in whole["configs"]] == ["a", "b", "c", "ü+/"]
    assert "nextPageToken" not in whole


@pytest.mark.parametrize(
    "page", [{"pageSize": -1}, {"pageToken": "no token"}, {"pageToken": "_w=="}], ids=str
)
async def test_a_page_of_webhooks_that_there_cannot_be_is_refused(page: dict[str, Any]) -> None:
    async with serving(echo, settings=PRIVATE) as wire:
        task_id = await hooked(wire, "c")
        answered = await wire.rpc("ListTaskPushNotificationConfigs", {"taskId": task_id, **page})
    assert answered["error"]["code"] == -32602


@pytest.mark.parametrize("way", [way for way in WAYS if way.version == "1.0"], ids=str)
async def test_times_far_from_ours_list_all_tasks_or_none(way: Way, tmp_path: Path) -> None:
    async with (
        served(Plain, ScriptedModel.of("Hello."), tmp_path) as place,
        place.client(way, streaming=False) as client,
    ):
        await answer(client, asking("hi"))
        found = []
        for since in ("0001-01-01T00:00:00Z", "2262-04-12T00:00:00Z", "9999-12-31T23:59:59Z"):
            request = ListTasksRequest()
            request.status_timestamp_after.FromJsonString(since)
            found.append((await client.list_tasks(request)).total_size)
    assert found == [1, 0, 0]
