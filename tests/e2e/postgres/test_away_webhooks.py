"""A webhook that is away is waited for by all replicas, and hears the end of the task once when it is back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from starlette.responses import Response
from structlog.testing import capture_logs

from tests.e2e.agents.peers import connected
from tests.e2e.postgres.test_replicas import Slow, sent_with
from tests.e2e.wire.test_push import Hook, hurried, listening
from tests.postgres import PostgresServer
from utils.a2a_common.server import app
from utils.testing.live_agent import running_agent

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.xdist_group("postgres"),
]


@pytest.mark.parametrize("ends", [False, True], ids=["both replicas wait", "the one that ran the turn ends"])
async def test_a_webhook_that_is_away_hears_the_end_once_from_two_replicas(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, ends: bool
) -> None:
    hurried(monkeypatch, longest_pause=0.1)
    monkeypatch.setattr(app, "PUSH_LOOK_SECONDS", 0.2)
    Slow.go = asyncio.Event()
    Slow.go.set()
    back = asyncio.Event()
    taken: list[str] = []

    async def away_at_first(_: int) -> Response:
        if not back.is_set():
            return Response(status_code=503)
        taken.append(str(hook.requests[-1][1]))
        return Response(status_code=204)

    hook = Hook(away_at_first)
    shared = {
        "DATABASE_URL": postgres.new_database(),
        "DATABASE_CONNECT_SECONDS": "60",
        "PUSH_ALLOW_PRIVATE": "true",
    }
    with capture_logs() as lines:
        async with listening(hook) as url, running_agent(Slow, environ=shared) as two:
            async with running_agent(Slow, environ=shared) as one, connected(one) as client:
                first = await sent_with(client, url, "a")
                await waiting(lines, 2)
                if not ends:
                    back.set()
                    await heard(taken, first)
            back.set()
            await heard(taken, first)
            async with connected(two) as client:  # what it hears next comes after all of the first task
                await heard(taken, await sent_with(client, url, "b"))
    assert ends_told(taken, first) == 1
    assert [line["event"] for line in lines].count("push.worker_failed") == 0


async def waiting(lines: Sequence[Mapping[str, object]], replicas: int) -> None:
    """Wait until so many replicas wait for the webhook."""
    async with asyncio.timeout(60):
        while sum(line["event"] == "push.waiting" for line in lines) < replicas:
            await asyncio.sleep(0.02)


def ends_told(taken: list[str], task_id: str) -> int:
    return sum("TASK_STATE_COMPLETED" in body and task_id in body for body in taken)


async def heard(taken: list[str], task_id: str) -> None:
    async with asyncio.timeout(60):
        while not ends_told(taken, task_id):
            await asyncio.sleep(0.02)
