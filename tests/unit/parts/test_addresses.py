"""A number of IPv6 stands in brackets wherever an address is made of it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from agents.github.agent import GitHubAgent
from multi_agents.cli.service.plan import Planned
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.server.agent_app import made
from utils.a2a_common.server.agent_runtime import open_runtime


@pytest.mark.parametrize(
    ("host", "url"), [("::1", "http://[::1]:8001"), ("127.0.0.1", "http://127.0.0.1:8001")]
)
async def test_the_card_and_the_plan_name_the_same_address(tmp_path: Path, host: str, url: str):
    settings = AgentSettings.load({"HOST": host, "PLATFORM_ENGINEER_HOME": str(tmp_path)})
    async with AsyncExitStack() as stack:
        runtime = await open_runtime("github", settings, stack)
        assert made(GitHubAgent, runtime, 8001)[1] == url
    assert Planned("github", "agents.github", 8001, 8001, host).url == url
