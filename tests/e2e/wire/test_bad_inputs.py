"""Whatever a client sends: no server error, no hang, nothing internal in the answer."""

import asyncio
import json
import logging
from pathlib import Path

import httpx

from tests.e2e.wire.agents import echo
from tests.e2e.wire.bad_inputs import Bad, all_bad_inputs
from tests.e2e.wire.wiring import HEADERS, serving

CHECKOUT = str(Path(__file__).resolve().parents[3]).lower()

INTERNAL = (
    "traceback", "site-packages", CHECKOUT, ".py", "sqlite", "exception", "codec", "nonetype", "object has no",
    "recursion", "keyerror", "valueerror", "typeerror", "google.protobuf", "errno",
)  # fmt: skip


async def _answer(http: httpx.AsyncClient, url: str, bad: Bad) -> httpx.Response:
    request = http.build_request(
        bad.method, url + bad.path, content=bad.body, headers={**HEADERS, **bad.headers}
    )
    async with asyncio.timeout(60):
        return await http.send(request)


def _complaints(bad: Bad, answer: httpx.Response) -> list[str]:
    shown = f"{bad.method} {bad.path[:80]} {bad.body[:120]!r} {bad.headers} -> {answer.status_code} {answer.text[:300]}"
    found = [f"says {word!r}: {shown}" for word in INTERNAL if word in answer.text.lower()]
    if answer.status_code >= 500:
        found.append(f"server error: {shown}")
    if '"code":-32603' in answer.text.replace(" ", ""):
        found.append(f"internal error: {shown}")
    if answer.status_code >= 400 and not _is_json(answer.text):
        found.append(f"not JSON: {shown}")
    return found


def _logged(bad: Bad, records: list[logging.LogRecord]) -> list[str]:
    """What the log says of a client's fault beyond a warning: anyone could fill it, and hide what is ours."""
    faults = [one for one in records if one.exc_info or one.levelno >= logging.ERROR]
    return [f"logged {one.getMessage()[:200]!r}: {bad.body[:120]!r} {bad.path[:80]}" for one in faults]


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


async def test_no_bad_input_breaks_the_server_or_shows_its_inside(caplog):
    inputs = all_bad_inputs()
    assert len(inputs) > 200
    complaints: list[str] = []
    async with serving(echo) as wire:
        for bad in inputs:
            caplog.clear()
            complaints += _complaints(bad, await _answer(wire.http, wire.url, bad))
            complaints += _logged(bad, caplog.records)
        assert (await wire.send())["status"]["state"] == "TASK_STATE_COMPLETED"
    assert complaints == []
