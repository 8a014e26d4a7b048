"""Blocks that need a running service run beside one: the checkout's agents and the one of the walk."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import Block, all_blocks, blocks_of
from tests.docs.checkout import Checkout
from tests.ports import free_port, move_to_free_ports
from tests.preloaded import process as preloaded

pytestmark = pytest.mark.processes

WALK = "docs/add-an-agent.md"
START_SECONDS = 90


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    made = Checkout.make(tmp_path_factory.mktemp("service") / "checkout")
    for block in blocks_of(WALK):
        written = {"file", "append"} & set(block.options) and "https://" not in block.text
        if written or "new-agent" in block.text:
            made.play(block)
    move_to_free_ports(made.folder)
    command = ["-m", "multi_agents.cli", "up", "--port", str(free_port())]
    log = made.folder / "up.log"
    with log.open("wb") as out:
        service = preloaded.popen(command, cwd=made.folder, env=made.environment, log=out, leads=True)
        try:
            made.replaced = _addresses(_wait_for(made.folder / ".data" / "run.json", service, log))
            yield made
        finally:
            service.send_signal(signal.SIGINT)
            service.wait(30)


def _wait_for(run_file: Path, service: preloaded.Running, log: Path) -> dict[str, Any]:
    deadline = time.monotonic() + START_SECONDS
    while not run_file.exists():
        assert service.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
    running: dict[str, Any] = json.loads(run_file.read_text("utf-8"))
    return running


def _addresses(running: dict[str, Any]) -> dict[str, str]:
    urls = {agent["name"]: agent["url"] for agent in running["agents"]}
    return {
        "http://127.0.0.1:8000": urls["supervisor"],
        "http://127.0.0.1:8003": urls["incidents"],
        "make chat": "make -s -o setup chat",  # the environment of these tests stays as it is
    }


@pytest.mark.timeout(600)  # the first one waits for four processes to start
@pytest.mark.parametrize("block", [one for one in all_blocks("bash") if "service" in one.options], ids=str)
@pytest.mark.long
def test_a_block_works_beside_a_running_service(block: Block, checkout: Checkout):
    assert block.options.get("expect"), "a block beside a service says what it prints"
    if "curl " in block.text and shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    checkout.play(block)
