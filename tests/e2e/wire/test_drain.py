"""The end of a process: its turns finish within the grace, or go on after the next start."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.observability.processes import SERVE, Served, ready, started
from tests.e2e.wire.wiring import HEADERS, message, state
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION

SLOW = (*SERVE, "tests.e2e.wire.slow_agent:Slow")
QUICK = {"EMBEDDINGS_PROVIDER": "none", "SHUTDOWN_PAUSE_SECONDS": "0", "SHUTDOWN_GRACE_SECONDS": "0"}


def rpc(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params)}


@asynccontextmanager
async def streaming(served: Served, body: Mapping[str, Any]) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    """The events of a stream, decoded."""

    async def events(answer: httpx.Response) -> AsyncIterator[dict[str, Any]]:
        async for line in answer.aiter_lines():
            if line.startswith("data:"):
                yield json.loads(line[5:])["result"]

    async with (
        httpx.AsyncClient(trust_env=False, timeout=60) as http,
        http.stream("POST", f"{served.url}/", json=body, headers=HEADERS) as answer,
    ):
        yield events(answer)


def text_of(events: list[dict[str, Any]]) -> str:
    """The text of the answer, as a client that replaces and appends puts it together."""
    text = ""
    for event in events:
        for artifact in event.get("task", {}).get("artifacts", []):
            text = "".join(part["text"] for part in artifact["parts"])
        update = event.get("artifactUpdate")
        if update:
            piece = "".join(part.get("text", "") for part in update["artifact"]["parts"])
            text = text + piece if update.get("append") else piece
    return text


async def logged(served: Served, words: str) -> None:
    async with asyncio.timeout(60):
        while not any(words in line for line in served.lines):
            await asyncio.sleep(0.02)


async def test_a_running_turn_finishes_within_the_grace(tmp_path: Path) -> None:
    settings = {**QUICK, "SHUTDOWN_GRACE_SECONDS": "40"}
    with started(tmp_path, "slow", SLOW, settings) as served:
        async with asyncio.timeout(90), ready(served):
            heard = []
            async with streaming(served, rpc("SendStreamingMessage", {"message": message()})) as events:
                async for event in events:
                    heard.append(event)
                    if "artifactUpdate" in event and text_of(heard) == "Begun. ":
                        served.process.terminate()
                        await logged(served, "server.draining")
                        (tmp_path / "slow" / "go").touch()
            code = await asyncio.to_thread(served.process.wait, 30)
    assert (text_of(heard), state(heard[-1]["statusUpdate"]), code) == ("Begun. Done.", "completed", 0)


async def test_between_the_signal_and_the_end_an_agent_is_alive_but_not_ready(tmp_path: Path) -> None:
    with started(tmp_path, "slow", SLOW, {**QUICK, "SHUTDOWN_PAUSE_SECONDS": "60"}) as served:
        async with (
            asyncio.timeout(90),
            ready(served),
            httpx.AsyncClient(trust_env=False, timeout=30) as http,
        ):
            served.process.terminate()
            await logged(served, "server.draining")
            assert (await http.get(f"{served.url}/readyz")).status_code == 503
            assert (await http.get(f"{served.url}/healthz")).status_code == 200
            listed = await http.post(f"{served.url}/", json=rpc("ListTasks", {}), headers=HEADERS)
            assert listed.status_code == 200
            served.process.terminate()  # a second signal ends the pause
            assert await asyncio.to_thread(served.process.wait, 30) == 0


async def cut_off(served: Served) -> list[dict[str, Any]]:
    """The events of a stream whose process is ended in the middle of it."""
    heard = []
    async with streaming(served, rpc("SendStreamingMessage", {"message": message()})) as events:
        async for event in events:
            heard.append(event)
            if "artifactUpdate" in event:
                served.process.terminate()
    return heard


async def test_a_stream_that_is_cut_says_where_it_goes_on_and_does_so_after_the_next_start(
    tmp_path: Path,
) -> None:
    with started(tmp_path, "slow", SLOW, QUICK) as served:
        async with asyncio.timeout(90), ready(served):
            heard = await cut_off(served)
            assert await asyncio.to_thread(served.process.wait, 30) == 0
    last = heard[-1]["statusUpdate"]
    assert state(last) == "working"
    assert last["metadata"][ACTIVITY_EXTENSION] == {"kind": "resubscribe", "after_seconds": 5.0}
    with started(tmp_path, "slow", SLOW, QUICK) as served:
        async with asyncio.timeout(90), ready(served):
            rest = []
            asked = rpc("SubscribeToTask", {"id": heard[0]["task"]["id"]})
            async with streaming(served, asked) as events:
                async for event in events:
                    rest.append(event)
                    (tmp_path / "slow" / "go").touch()
    assert (text_of(heard + rest), state(rest[-1]["statusUpdate"])) == ("Begun. Done.", "completed")


async def test_a_blocking_call_is_told_to_come_again_and_its_message_gets_the_whole_answer(
    tmp_path: Path,
) -> None:
    sent = rpc("SendMessage", {"message": message(messageId="once")})
    async with asyncio.timeout(120), httpx.AsyncClient(trust_env=False, timeout=60) as http:
        with started(tmp_path, "slow", SLOW, QUICK) as served:
            async with ready(served):
                call = asyncio.create_task(http.post(f"{served.url}/", json=sent, headers=HEADERS))
                while not await tasks_of(http, served):
                    await asyncio.sleep(0.02)
                served.process.terminate()
                refused = await call
        (tmp_path / "slow" / "go").touch()
        with started(tmp_path, "slow", SLOW, QUICK) as served:
            async with ready(served):
                served_now = await http.post(f"{served.url}/", json=sent, headers=HEADERS)
                tasks = await tasks_of(http, served)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    task = served_now.json()["result"]["task"]
    assert (state(task), task["artifacts"][0]["parts"][0]["text"]) == ("completed", "Begun. Done.")
    assert len(tasks) == 1


async def tasks_of(http: httpx.AsyncClient, served: Served) -> list[dict[str, Any]]:
    answer = await http.post(f"{served.url}/", json=rpc("ListTasks", {}), headers=HEADERS)
    found: list[dict[str, Any]] = answer.json()["result"].get("tasks", [])
    return found
