"""The proxy of the compose profile `scale`, run by the nginx of this machine in front of addresses of this machine."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.compose.tool import ROOT
from tests.ports import free_port

CONFIGURATION = ROOT / "compose" / "balancer.conf"


@asynccontextmanager
async def balanced(folder: Path, urls: Sequence[str]) -> AsyncIterator[str]:
    """The address in front of the supervisors at `urls`, as many as the configuration names."""
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    assert Path(program).exists(), "nginx is not installed: apt-get install nginx"
    port, text = free_port(), CONFIGURATION.read_text()
    text, listening = re.subn(r"listen 8000;", f"listen 127.0.0.1:{port};", text)
    assert listening == 1
    for number, url in enumerate(urls, start=1):
        text, found = re.subn(rf"supervisor-{number}:8000", urlsplit(url).netloc, text)
        assert found == 1
    (folder / "balancer.conf").write_text(text)
    with (folder / "nginx.log").open("wb") as log:
        command = [program, "-p", f"{folder}/", "-c", f"{folder}/balancer.conf"]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        async with asyncio.timeout(30):
            while not await _listens(port):
                assert process.poll() is None, (folder / "nginx.log").read_text()
                await asyncio.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await asyncio.to_thread(process.wait, 30)


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True
