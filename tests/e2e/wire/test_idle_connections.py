"""The health check is answered beside more idle connections than a server takes."""

from __future__ import annotations

import os
import sys

import pytest

from tests.preloaded import process as preloaded
from tests.preloaded.process import ROOT

IDLE = 1_100
PROGRAM = f"""
import asyncio, resource
from tests.e2e.wire.test_connections import APP, held, once
from utils.a2a_common.server.http.connections import bounded, bounds_of
from utils.processes.open_files import raise_open_files
from utils.settings import ServerSettings
from utils.testing.live_server import running


async def main():
    async with running(APP, http=bounded(bounds_of(ServerSettings.load({{}})))) as url, once() as http:
        async with held(url, {IDLE}):
            for path in ("/healthz", "/rest/tasks", "/healthz"):
                print((await http.get(url + path)).status_code)


_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
raise_open_files()
asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit.")
def test_the_health_check_is_answered_beside_more_idle_connections_than_are_taken() -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = preloaded.run(["-c", PROGRAM], cwd=ROOT, env=env, timeout=100)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.isdigit()] == ["200", "503", "200"]
