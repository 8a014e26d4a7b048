"""What has a time limit: a body on its way, a task that waits for its user, streams at the end of a process."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.e2e.observability.processes import SERVE, Served, ready, started
from tests.e2e.wire.agents import echo
from tests.e2e.wire.test_rest_of_0_3 import old
from tests.e2e.wire.wiring import HEADERS, Wire, message, serving, state
from utils.a2a_common.server.http import request_guard

SLOW = (*SERVE, "tests.e2e.wire.slow_agent:Slow")


async def trickle(wire: Wire, path: str) -> tuple[int, str]:
    """Send half of a body and no more; the answer's status and body."""
    address = urlsplit(wire.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    head = [
        f"POST {path} HTTP/1.1", f"Host: {address.netloc}", "Content-Type: application/json",
        "A2A-Version: 1.0", "Content-Length: 1000", "", '{"jsonrpc": "2.0", ',
    ]  # fmt: skip
    writer.write("\r\n".join(head).encode())
    await writer.drain()
    status = (await reader.readline()).split()[1]
    headers = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = int(headers.partition("content-length: ")[2].partition("\r\n")[0])
    body = (await reader.readexactly(length)).decode()
    writer.close()
    await writer.wait_closed()
    return int(status), body


@pytest.mark.parametrize("path", ["/", "/rest/message:send", "/rest/v1/message:stream"])
async def test_a_body_that_does_not_arrive_is_answered_with_408(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_guard, "BODY_SECONDS", 0.2)
    async with asyncio.timeout(10), serving(echo) as wire:
        status, body = await trickle(wire, path)
        assert status == 408
        assert json.loads(body)["error"]["message"] == "The request's body did not arrive."
        assert wire.agent.seen == []
        assert state(await wire.send()) == "completed"
        assert (await wire.http.post(f"{wire.url}/rest/v1/message:send", json=old())).status_code == 200


async def heard_until_the_end(folder: Path, served: Served, *, go: bool) -> tuple[list[str], str]:
    """Stream, end the process in the middle; the words that came, and the last state or error."""
    words: list[str] = []
    last = ""
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": message()}}
    async with (
        httpx.AsyncClient(trust_env=False, timeout=30) as http,
        http.stream("POST", f"{served.url}/", json=body, headers=HEADERS) as answer,
    ):
        async for line in answer.aiter_lines():
            told = json.loads(line[5:]) if line.startswith("data:") else {}
            event = told.get("result", {})
            if "statusUpdate" in event or "error" in told:
                last = told["error"]["message"] if "error" in told else state(event["statusUpdate"])
            parts = event.get("artifactUpdate", {}).get("artifact", {}).get("parts", [])
            words += [part["text"] for part in parts if part.get("text")]
            if words == ["Begun. "] and parts:
                served.process.terminate()
                if go:
                    while not any("Shutting down" in line for line in served.lines):
                        await asyncio.sleep(0.05)
                    await asyncio.sleep(2)  # the time that the stream must live through
                    (folder / "slow" / "go").touch()
    return words, last


async def test_a_stream_that_is_open_when_its_process_is_ended_gets_its_grace(tmp_path: Path) -> None:
    settings = {"SHUTDOWN_GRACE_SECONDS": "20", "EMBEDDINGS_PROVIDER": "none"}
    with started(tmp_path, "slow", SLOW, settings) as served:
        async with asyncio.timeout(90), ready(served):
            words, last = await heard_until_the_end(tmp_path, served, go=True)
            code = await asyncio.to_thread(served.process.wait, 30)
    assert ("".join(words), last, code) == ("Begun. Done.", "completed", 0)


async def test_a_process_does_not_outlive_its_grace(tmp_path: Path) -> None:
    settings = {"SHUTDOWN_GRACE_SECONDS": "0", "EMBEDDINGS_PROVIDER": "none"}
    with started(tmp_path, "slow", SLOW, settings) as served:
        async with asyncio.timeout(90), ready(served):
            try:
                words, last = await heard_until_the_end(tmp_path, served, go=False)
            except httpx.RemoteProtocolError:  # where the stream is cut off before it is told why
                words, last = ["Begun. "], "cut off"
            code = await asyncio.to_thread(served.process.wait, 30)
    assert (words, code) == (["Begun. "], 0)
    assert last == "cut off" or last.endswith("Its log has the details.")
