"""A program of somebody else takes a port between its choice and the start of the process that was to get it."""

from __future__ import annotations

import json
import os
import signal

import httpx
import pytest

from tests.e2e.cli.test_up import Scene, alive, until

LOSES_ITS_PORT = """
import pathlib, subprocess
here = pathlib.Path(__file__)
if not here.with_suffix(".foreign").exists():
    foreign = subprocess.Popen(
        [sys.executable, "-m", "http.server", str(options.port), "--bind", "127.0.0.1"],
        start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    import socket
    while socket.socket().connect_ex(("127.0.0.1", options.port)):
        time.sleep(0.02)
    here.with_suffix(".foreign").write_text(str(foreign.pid))
    sys.exit(2)
"""


@pytest.mark.timeout(600)  # three processes, twice
async def test_the_service_starts_with_another_port(tmp_path):
    scene = Scene(tmp_path, one={"extra": LOSES_ITS_PORT})
    try:
        async with scene.up() as (_, lines, _):
            assert "Another program took a port of the service meanwhile" in lines
            urls = {one["name"]: one["url"] for one in json.loads(scene.run_file.read_text())["agents"]}
            assert urls["one"] != f"http://127.0.0.1:{scene.one}"
            assert urls["two"] == f"http://127.0.0.1:{scene.two}"
            async with httpx.AsyncClient(trust_env=False) as http:
                assert (await http.get(f"{urls['one']}/readyz")).is_success
    finally:
        foreign = int((tmp_path / "one.foreign").read_text())
        os.kill(foreign, signal.SIGKILL)
        await until(lambda: not alive(foreign))
