"""A webhook is registered over HTTP+JSON of protocol 0.3 as `a2a.proto` has it, and as Python's SDK sends it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.wire.agents import echo
from tests.e2e.wire.wiring import serving

HOOK = {"url": "http://127.0.0.1:9/", "token": "secret"}
PRIVATE = {"PUSH_ALLOW_PRIVATE": "true"}
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "config alone, id in it": ("", {"pushNotificationConfig": {"id": "c1", **HOOK}}),
    "config alone, id in its name": (
        "",
        {"name": "tasks/{}/pushNotificationConfigs/c1", "pushNotificationConfig": HOOK},
    ),
    "config alone, id in the query": ("?configId=c1", {"pushNotificationConfig": HOOK}),
    "the whole message": (
        "",
        {"parent": "tasks/{}", "configId": "c1", "config": {"pushNotificationConfig": {"id": "c1", **HOOK}}},
    ),
    "the whole message in names of the proto": (
        "",
        {
            "parent": "tasks/{}",
            "config_id": "c1",
            "config": {"push_notification_config": {"id": "c1", **HOOK}},
        },
    ),
}


@pytest.mark.parametrize(("query", "body"), FORMS.values(), ids=FORMS)
async def test_a_webhook_is_stored_in_each_form_of_the_request(query, body):
    async with serving(echo, settings=PRIVATE) as wire:
        task_id = (await wire.send())["id"]
        path = f"{wire.url}/rest/v1/tasks/{task_id}/pushNotificationConfigs"
        given = {
            name: value.format(task_id) if isinstance(value, str) else value for name, value in body.items()
        }
        stored = await wire.http.post(f"{path}{query}", json=given)
        assert stored.status_code == 200, stored.text
        assert stored.json()["name"] == f"tasks/{task_id}/pushNotificationConfigs/c1"
        got = await wire.http.get(f"{path}/c1")
        assert got.json()["pushNotificationConfig"]["url"] == HOOK["url"]


@pytest.mark.parametrize(
    "body", [{}, {"pushNotificationConfig": {}}, {"pushNotificationConfig": "no object"}]
)
async def test_a_request_without_an_address_is_refused(body):
    async with serving(echo, settings=PRIVATE) as wire:
        task_id = (await wire.send())["id"]
        path = f"{wire.url}/rest/v1/tasks/{task_id}/pushNotificationConfigs"
        refused = await wire.http.post(path, json=body)
        assert refused.status_code == 400


async def test_the_path_names_the_task():
    async with serving(echo, settings=PRIVATE) as wire:
        one, other = (await wire.send())["id"], (await wire.send())["id"]
        body = {"parent": f"tasks/{other}", "config": {"pushNotificationConfig": {"id": "c1", **HOOK}}}
        stored = await wire.http.post(f"{wire.url}/rest/v1/tasks/{one}/pushNotificationConfigs", json=body)
        assert stored.json()["name"] == f"tasks/{one}/pushNotificationConfigs/c1"
