"""A data folder of an earlier version, as one archive, and how it was made.

`python -m tests.e2e.upgrade.data FILE.zip` makes one with the code of this checkout: a supervisor and a worker talk, and both are
killed while one of their tasks works. A release that changes what is stored adds the archive of the one before.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import tempfile
import zipfile
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.service.client import Talk, http_client
from benchmarks.service.doors import call
from benchmarks.service.gate import Gate, Present, open_gate
from benchmarks.service.processes import Service, running_service
from benchmarks.service.script import ASK, FAIL, SAY, WORK, Order
from benchmarks.service.worker import IN_TOOL
from utils.version import project_version

MANIFEST = "manifest.json"
SETTINGS = {"PUSH_ALLOW_PRIVATE": "true"}
WEBHOOK = "http://127.0.0.1:9/"
SECRET = "Remember secret-1."
CUT_OFF = Order("cut", WORK)


async def _fill(service: Service, working: Callable[[], Awaitable[None]]) -> dict[str, Any]:
    """Talk until there is a task of every kind; what there is then, by its kind."""
    async with http_client() as http:
        talks = {name: Talk(http, service.url) for name in ("completed", "waiting", "failed", "working")}
        await talks["completed"].send(SECRET)
        seen = {
            "completed": await talks["completed"].send(Order("done", WORK).text),
            "waiting": await talks["waiting"].send(Order("asked", ASK).text),
            "failed": await talks["failed"].send(Order("refused", FAIL).text),
        }
        await talks["working"].send(Order("before", SAY).text)
        cut_off = asyncio.create_task(talks["working"].send(CUT_OFF.text))
        await working()
        listed = await call(http, service.url, "ListTasks", {"status": "TASK_STATE_WORKING"})
        config = {"taskId": seen["waiting"].task_id, "id": "hook", "url": WEBHOOK, "token": "word"}
        await call(http, service.url, "CreateTaskPushNotificationConfig", config)
        for agent in service.agents.values():
            await agent.kill()
        cut_off.cancel()
    kept = {
        kind: {"task": one.task_id, "state": one.state, "text": one.stored, "said": one.said}
        for kind, one in seen.items()
    }
    kept["working"] = {"task": listed["result"]["tasks"][0]["id"], "state": "TASK_STATE_WORKING"}
    for kind, talk in talks.items():
        kept[kind]["context"] = talk.context_id
    return kept


async def make(archive: Path) -> None:
    """Write the archive."""
    at_work = asyncio.Event()

    async def arrive(key: str, place: str, present: Present) -> None:
        if (key, place) == (CUT_OFF.key, IN_TOOL):
            at_work.set()
            while await present():
                await asyncio.sleep(0.05)

    async def working() -> None:
        await at_work.wait()

    with tempfile.TemporaryDirectory() as name:
        folder, gate = Path(name), Gate(arrive)
        async with open_gate(gate), running_service(folder, gate, SETTINGS) as service:
            kept = await _fill(service, working)
            homes = [agent.home for agent in service.agents.values()]
        await asyncio.to_thread(_pack, archive, folder, homes, kept)


def _pack(archive: Path, folder: Path, homes: list[Path], kept: dict[str, Any]) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        packed.writestr(MANIFEST, json.dumps({"version": project_version(), "tasks": kept}, indent=1))
        for file in sorted(path for home in homes for path in home.rglob("*.sqlite")):
            with closing(sqlite3.connect(file)) as database:
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                database.execute("VACUUM")
            packed.write(file, file.relative_to(folder))


def unpack(archive: Path, folder: Path) -> dict[str, Any]:
    """Put the data where `running_service` looks for it; what there is, by its kind."""
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    kept: dict[str, Any] = json.loads((folder / MANIFEST).read_text())["tasks"]
    return kept


if __name__ == "__main__":
    asyncio.run(make(Path(sys.argv[1])))
