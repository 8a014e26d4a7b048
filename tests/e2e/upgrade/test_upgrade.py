"""The data of an earlier version is read: its tasks are found, and its conversations go on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from benchmarks.service.client import COMPLETED, FAILED, Talk, answer_of, http_client, tasks_in
from benchmarks.service.doors import call
from benchmarks.service.gate import Gate, open_gate
from benchmarks.service.processes import Service, running_service
from benchmarks.service.script import ASK, SAY, WORK, Order
from tests.e2e.upgrade.data import SETTINGS, WEBHOOK, unpack

pytestmark = pytest.mark.processes

ARCHIVES = sorted((Path(__file__).parent / "archives").glob("*.zip"))
WORKING, SUBMITTED = "TASK_STATE_WORKING", "TASK_STATE_SUBMITTED"


class Upgraded(NamedTuple):
    """A service of this version on data of an earlier one.

    Attributes:
        service: Supervisor and worker.
        http: Connections to it.
        kept: What was stored, by its kind.
        gate: What the models were asked.
    """

    service: Service
    http: httpx.AsyncClient
    kept: dict[str, Any]
    gate: Gate

    def talk(self, kind: str) -> Talk:
        """An earlier conversation."""
        return Talk(self.http, self.service.url, 60, context_id=self.kept[kind]["context"])

    async def task(self, kind: str) -> Any:
        """An earlier task as it is now."""
        answer = await call(self.http, self.service.url, "GetTask", {"id": self.kept[kind]["task"]})
        return answer["result"]


@pytest.fixture(params=ARCHIVES, ids=lambda path: path.stem)
async def upgraded(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Upgraded]:
    kept, gate = unpack(request.param, tmp_path), Gate()
    async with open_gate(gate), running_service(tmp_path, gate, SETTINGS) as service, http_client() as http:
        yield Upgraded(service, http, kept, gate)


async def test_a_data_folder_of_the_version_before_is_taken_over(upgraded: Upgraded) -> None:
    """One service for all of it: each step goes on where the one before ended."""
    await _ended_tasks_are_found(upgraded)
    await _a_task_that_was_cut_off_is_failed(upgraded)
    await _a_question_is_answered(upgraded)
    await _conversations_go_on(upgraded)
    assert not [remark for _, remark in upgraded.gate.remarks if remark.startswith("refused")]
    assert upgraded.service.effects() == ["further"], "what was cut off is not run again"


async def _ended_tasks_are_found(upgraded: Upgraded) -> None:
    for kind in ("completed", "failed", "waiting"):
        kept, task = upgraded.kept[kind], await upgraded.task(kind)
        said = task["status"].get("message", {}).get("parts", [])
        assert (task["status"]["state"], answer_of(task)) == (kept["state"], kept["text"])
        assert "".join(part["text"] for part in said) == kept["said"]
        assert task["contextId"] == kept["context"]
        listed = await call(upgraded.http, upgraded.service.url, "ListTasks", {"contextId": kept["context"]})
        assert kept["task"] in [one["id"] for one in listed["result"]["tasks"]]
    hook = {"taskId": upgraded.kept["waiting"]["task"], "id": "hook"}
    found = await call(upgraded.http, upgraded.service.url, "GetTaskPushNotificationConfig", hook)
    assert found["result"]["url"] == WEBHOOK


async def _a_task_that_was_cut_off_is_failed(upgraded: Upgraded) -> None:
    task = await upgraded.task("working")
    assert task["status"]["state"] == FAILED
    assert task["status"]["message"]["parts"][0]["text"]
    for agent in upgraded.service.agents.values():
        assert [await tasks_in(upgraded.http, agent.url, state) for state in (WORKING, SUBMITTED)] == [0, 0]


async def _a_question_is_answered(upgraded: Upgraded) -> None:
    seen = await upgraded.talk("waiting").send("the blue one", task_id=upgraded.kept["waiting"]["task"])
    assert (seen.state, seen.stored, seen.task_id) == (
        COMPLETED,
        Order("asked", ASK).answer,
        upgraded.kept["waiting"]["task"],
    )


async def _conversations_go_on(upgraded: Upgraded) -> None:
    secret = await upgraded.talk("completed").send("What is the secret?")
    assert secret.stored == "The secret is secret-1"
    further = Order("further", WORK)
    assert (await upgraded.talk("completed").send(further.text)).stored == further.answer
    remote = await call(
        upgraded.http, upgraded.service.worker.url, "ListTasks", {"pageSize": 100, "includeArtifacts": True}
    )
    contexts = {
        word: task["contextId"]
        for task in remote["result"]["tasks"]
        for word in ("done", "further")
        if f"did {word}" in str(task.get("artifacts"))
    }
    for kind in ("failed", "working"):
        order = Order(f"after_{kind}", SAY)
        assert (await upgraded.talk(kind).send(order.text)).stored == order.answer, kind
    assert contexts["done"] == contexts["further"], "the same remote conversation goes on"
