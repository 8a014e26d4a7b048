"""Replicas whose clocks differ share a conversation: neither loses a turn of the other."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.clocks import another_machine
from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.resume.test_clocks import heard
from tests.postgres import PostgresServer
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]


async def test_a_replica_whose_clock_is_ahead_takes_no_turn_from_the_other(
    tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = {"DATABASE_URL": postgres.new_database(), "DATABASE_CONNECT_SECONDS": "60"}
    said: list[str] = []
    async with AsyncExitStack() as stack:
        replicas = []
        for name in ("fast", "right"):
            agent = running_agent(
                Keys, home=tmp_path / name, model=ScriptedModel(script=heard), environ=shared
            )
            replicas.append(
                await stack.enter_async_context(connected(await stack.enter_async_context(agent)))
            )
        for turn in range(6):
            another_machine(monkeypatch, ahead=0.0 if turn % 2 else 60.0)
            said.append(f"turn {turn}")
            answer = await ask(replicas[turn % 2], said[-1], context_id="talk")
            assert answer.text == ", ".join(said)
