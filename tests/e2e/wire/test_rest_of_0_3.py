"""HTTP+JSON as clients of protocol 0.3 speak it."""

from __future__ import annotations

import json
from typing import Any

from tests.e2e.wire.agents import echo
from tests.e2e.wire.wiring import Wire, serving


def old(**fields: Any) -> dict[str, Any]:
    return {"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}], **fields}}


async def streamed(wire: Wire, path: str, body: Any) -> list[dict[str, Any]]:
    async with wire.http.stream("POST", wire.url + path, json=body) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        return [json.loads(line[5:]) async for line in answer.aiter_lines() if line.startswith("data:")]


async def test_rest_of_0_3_sends_streams_and_gets():
    async with serving(echo) as wire:
        sent = (await wire.http.post(f"{wire.url}/rest/v1/message:send", json=old())).json()["task"]
        assert sent["status"]["state"] == "TASK_STATE_COMPLETED"
        assert sent["artifacts"][0]["parts"][0]["text"] == "hi"
        events = await streamed(wire, "/rest/v1/message:stream", old(messageId="m-2"))
        assert [name for event in events for name in event] == [
            "task", "statusUpdate", "artifactUpdate", "statusUpdate",
        ]  # fmt: skip
        got = (await wire.http.get(f"{wire.url}/rest/v1/tasks/{sent['id']}")).json()
        assert got["artifacts"] == sent["artifacts"]


async def test_a_stream_of_0_3_that_is_refused_at_once_is_answered_with_its_status():
    async with serving(echo) as wire:
        missing = await wire.http.get(f"{wire.url}/rest/v1/tasks/nope:subscribe")
        assert missing.status_code == 404
        assert missing.json()["error"]["status"] == "NOT_FOUND"
        wrong = await wire.http.post(f"{wire.url}/rest/v1/message:stream", json=old(taskId="nope"))
        assert wrong.status_code == 404
        assert wire.agent.seen == []


async def test_a_stream_of_0_3_refuses_another_version():
    async with serving(echo) as wire:
        newer = {"A2A-Version": "9.9"}
        answer = await wire.http.post(f"{wire.url}/rest/v1/message:stream", json=old(), headers=newer)
        assert answer.status_code == 400
        assert wire.agent.seen == []
