"""An agent is watched for as long as the process lives."""

from __future__ import annotations

import asyncio

import pytest

from tests.unit.client.test_unreadable import Speaker, speaking
from utils.a2a_common.client.agents.registry import SubAgentRegistry

pytestmark = pytest.mark.listens


async def nothing() -> None:
    """The card changes nothing here."""


async def test_an_agent_is_looked_at_again_after_an_error_in_what_is_told_that_it_came_up() -> None:
    told = list[str]()

    def fragile(name: str) -> None:
        told.append(name)
        raise RuntimeError("not foreseen")

    async with speaking(Speaker((), ())) as url:
        registry = SubAgentRegistry({"odd": url}, refresh_seconds=0.01, on_change=nothing, on_up=fragile)
        registry.start()
        await registry.looked_at(["odd"])
        async with asyncio.timeout(30):
            await registry.until_all_join(30)
        await registry.stop()
    assert told == ["odd"]
    assert registry.get("odd").card is not None
