"""The proxy of the compose profile `scale`, run by the nginx of this machine in front of addresses of this machine."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.compose.tool import ROOT
from tests.ports import free_port
from tests.programs import installed, serving

CONFIGURATION = ROOT / "compose" / "balancer.conf"


@asynccontextmanager
async def balanced(folder: Path, urls: Sequence[str]) -> AsyncIterator[str]:
    """The address in front of the supervisors at `urls`, as many as the configuration names."""
    port, text = free_port(), CONFIGURATION.read_text()
    text, listening = re.subn(r"listen 8000;", f"listen 127.0.0.1:{port};", text)
    assert listening == 1
    for number, url in enumerate(urls, start=1):
        text, found = re.subn(rf"supervisor-{number}:8000", urlsplit(url).netloc, text)
        assert found == 1
    (folder / "balancer.conf").write_text(text)
    command = [installed("nginx", "nginx"), "-p", f"{folder}/", "-c", f"{folder}/balancer.conf"]
    async with serving(command, port, folder / "nginx.log"):
        yield f"http://127.0.0.1:{port}"
