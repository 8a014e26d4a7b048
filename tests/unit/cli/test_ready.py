"""A service is up when its processes are ready and the supervisor has found the others."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from multi_agents.cli.errors import NotReady, PortTaken
from multi_agents.cli.service import ready
from multi_agents.cli.service.plan import Planned
from multi_agents.cli.service.ready import look, wait_ready
from tests.support.passing_time import pass_seconds
from utils.a2a_common.protocol.readiness import Readiness
from utils.a2a_common.server.http.probes import probe_routes
from utils.testing.live_server import running

pytestmark = pytest.mark.listens

State = Callable[[], Readiness]


@asynccontextmanager
async def processes(**states: State) -> AsyncIterator[list[Any]]:
    """What stands for a child process of each name: its plan, alive, and a real server of its probes."""
    async with AsyncExitStack() as stack:
        children = []
        for name, state in states.items():

            async def answer(state: State = state) -> Readiness:
                return state()

            url = await stack.enter_async_context(running(Starlette(routes=probe_routes(answer))))
            port = int(url.rsplit(":", 1)[1])
            planned = Planned(name, "module", port, port)
            process = SimpleNamespace(returncode=None, pid=os.getpid())
            children.append(SimpleNamespace(planned=planned, process=process, log=Path(f"logs/{name}.log")))
        yield children


async def test_a_supervisor_that_gave_an_agent_up_is_waited_for_until_it_has_found_it() -> None:
    looks = {"supervisor": 0, "late": 0}

    def supervisor() -> Readiness:
        looks["supervisor"] += 1
        found = looks["late"] > 3 and looks["supervisor"] > 8
        return Readiness(ready=True) if found else Readiness(True, "without late", ("late", "foreign"))

    def late() -> Readiness:
        looks["late"] += 1
        return Readiness(ready=looks["late"] > 3)

    told: list[tuple[str, ready.Readiness]] = []
    async with processes(supervisor=supervisor, late=late) as children, asyncio.timeout(60):
        await wait_ready(children, lambda name, state: told.append((name, state)))
    assert told[-1] == ("supervisor", ready.Readiness(answers=True, ready=True))
    assert ("late", ready.Readiness(answers=True, ready=True)) in told


async def test_an_agent_that_runs_elsewhere_and_is_down_is_not_waited_for() -> None:
    def supervisor() -> Readiness:
        return Readiness(True, "without weather", ("weather",))

    told: list[ready.Readiness] = []
    async with processes(supervisor=supervisor, rag=lambda: Readiness(True)) as children, asyncio.timeout(60):
        await wait_ready(children, lambda _, state: told.append(state))
    assert frozenset({"weather"}) in [state.without for state in told]


async def test_a_supervisor_that_never_finds_an_agent_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ready, "FOUND_SECONDS", 0.3)

    def supervisor() -> Readiness:
        return Readiness(True, "without rag", ("rag",))

    async with processes(supervisor=supervisor, rag=lambda: Readiness(True)) as children, asyncio.timeout(60):
        await wait_ready(children, lambda _, __: None)


@pytest.mark.parametrize("busy", [False, True])
async def test_a_process_that_does_not_get_ready_ends_the_wait_with_its_own_reason(
    monkeypatch: pytest.MonkeyPatch, busy: bool
) -> None:
    monkeypatch.setattr(ready, "BUSY_SECONDS" if busy else "STUCK_SECONDS", 0.3)
    why = "The document index could not be written."
    stuck = Readiness(ready=False, detail=why, busy=why if busy else "")
    told: list[ready.Readiness] = []
    async with processes(rag=lambda: stuck) as children, asyncio.timeout(60):
        with pytest.RaisesGroup(NotReady) as raised:
            await wait_ready(children, lambda _, state: told.append(state))
    (error,) = raised.value.exceptions
    assert isinstance(error, NotReady)
    assert f'"{why}"' in error.message
    assert "logs/rag.log" in error.message
    assert (error.code, error.exit_code) == ("service_not_ready", 3)
    assert len(told) > 2  # so that a view can give signs of life


async def test_another_process_that_is_ready_at_the_port_is_not_taken_for_the_one_that_was_started(
    tmp_path: Path,
) -> None:
    async with processes(rag=lambda: Readiness(True)) as children, asyncio.timeout(60):
        children[0].process.pid += 1
        children[0].log = tmp_path / "rag.log"
        children[0].last_lines = lambda: ["The port is taken."]
        waiting = asyncio.create_task(wait_ready(children, lambda _, state: told.append(state)))
        told: list[ready.Readiness] = []
        while len(told) < 3:
            await asyncio.sleep(0.02)
        assert not any(state.answers for state in told)
        children[0].process.returncode = 1
        with pytest.RaisesGroup(PortTaken):
            await waiting


async def test_a_process_that_gets_on_is_waited_for_and_so_is_one_that_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ready, "STUCK_SECONDS", 10)
    looks = 0

    def rag() -> Readiness:
        nonlocal looks
        looks += 1
        return Readiness(looks > 12, f"ingesting {looks} of 12 documents")

    def report(name: str, _state: ready.Readiness) -> None:
        if name == "rag":
            pass_seconds(4)  # a look itself may take up to 5

    def supervisor() -> Readiness:
        return Readiness(True) if looks > 12 else Readiness(False, "waiting for rag", ("rag",))

    async with processes(supervisor=supervisor, rag=rag) as children, asyncio.timeout(60):
        begun = asyncio.get_running_loop().time()
        await wait_ready(children, report)
        assert asyncio.get_running_loop().time() - begun > 3 * ready.STUCK_SECONDS


@pytest.mark.parametrize("without", [None, 5, "rag", {"rag": 1}])
async def test_what_a_foreign_agent_says_there_does_no_harm(without: object) -> None:
    body = {"detail": 7, "without": without, "busy": None}
    http = httpx.AsyncClient(transport=httpx.MockTransport(lambda _: httpx.Response(200, json=body)))
    async with http:
        assert await look(http, "http://x") == ready.Readiness(answers=True, ready=True, detail="7")
