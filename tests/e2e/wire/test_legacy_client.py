"""A real client of protocol 0.3, from the last release of that SDK, against a served agent."""

import asyncio
import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.e2e.wire.legacy_client import TEXT
from tests.e2e.wire.test_sdk_client import service
from utils.a2a_common.server.app import build_app
from utils.settings import ServerSettings
from utils.testing.live_server import loopback_socket, running

RELEASE = "0.3.26"
ROOT = Path(__file__).resolve().parents[3]
CLIENT = Path(__file__).with_name("legacy_client.py")


def legacy_python() -> Path:
    """The interpreter of an environment with the old SDK, made on first use."""
    folder = ROOT / ".cache" / f"a2a-sdk-{RELEASE}"
    python = folder / "bin" / "python"
    if (folder / "complete").exists():
        return python
    wanted = [f"a2a-sdk=={RELEASE}", "httpx<1"]
    if shutil.which("uv"):
        subprocess.run(["uv", "venv", "-q", "--clear", "--python", sys.executable, folder], check=True)
        subprocess.run(["uv", "pip", "install", "-q", "--python", python, *wanted], check=True)
    else:
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True)
    (folder / "complete").touch()
    return python


@pytest.mark.servers
async def test_a_client_of_0_3_reads_the_card_and_streams_to_the_end():
    python = await asyncio.to_thread(legacy_python)
    listener = loopback_socket()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with running(build_app(service(url), ServerSettings.load({})), listener=listener):
        process = await asyncio.create_subprocess_exec(
            python, CLIENT, url, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, err.decode()
    answer = json.loads(out)
    assert answer["name"] == "Echo"
    assert answer["states"][-1] == "completed"
    assert answer["text"] == TEXT
