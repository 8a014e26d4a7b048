"""An agent that goes away while it is waited for is doubted each time, and one that is busy is not."""

from __future__ import annotations

from uuid import uuid4

import httpx
import pytest

from tests.e2e.cli.scripted_agent import ScriptedAgent, serve
from tests.unit.client.test_follow import Refusing, Restarting, answering, connected
from utils.a2a_common.client.delegation import progress, remote_agent
from utils.a2a_common.client.delegation.progress import AWAY, BUSY
from utils.a2a_common.client.delegation.remote_agent import RemoteAgent
from utils.a2a_common.client.stream.message import RemoteCall
from utils.a2a_common.client.stream.patience import Patience
from utils.events import DelegationProgress, DelegationState

pytestmark = pytest.mark.listens

AWAY_TIMES = 8


async def _delegated(
    transport: httpx.AsyncBaseTransport, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], list[str]]:
    """What became of one delegation: each call of `on_away`, and why its caller was told to wait."""
    patience = Patience(first_wait=0.001, pause_seconds=0.01)
    monkeypatch.setattr(remote_agent, "_PATIENCE", patience)
    doubted, told = list[str](), list[object]()
    async with serve(ScriptedAgent(answering)) as url, connected(url, transport) as connection:
        remote = RemoteAgent("far", connection, on_away=lambda: doubted.append("far"))
        call = RemoteCall("c1", "go", str(uuid4()), str(uuid4()), None, 20.0)
        task = await remote.run(call, told.append)
    assert task.state == DelegationState.COMPLETED
    return doubted, [each.waiting for each in told if isinstance(each, DelegationProgress) and each.waiting]


async def test_an_agent_that_is_away_is_doubted_at_each_try(monkeypatch: pytest.MonkeyPatch) -> None:
    doubted, waiting = await _delegated(Restarting(AWAY_TIMES), monkeypatch)
    assert doubted == ["far"] * AWAY_TIMES
    assert waiting == [AWAY] * AWAY_TIMES


async def test_it_is_doubted_also_where_its_caller_is_told_no_progress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "AT_ONCE", 0)
    doubted, waiting = await _delegated(Restarting(AWAY_TIMES), monkeypatch)
    assert waiting == []
    assert doubted == ["far"] * AWAY_TIMES


async def test_an_agent_that_is_busy_is_not_doubted(monkeypatch: pytest.MonkeyPatch) -> None:
    doubted, waiting = await _delegated(Refusing(2, status=503), monkeypatch)
    assert waiting == [BUSY] * 2
    assert doubted == []
