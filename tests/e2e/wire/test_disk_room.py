"""A disk that is nearly full: short messages are taken, and whoever watches the agent is told before nothing fits any more."""

from __future__ import annotations

from typing import Any

from tests.e2e.wire.test_refusals import Gate
from tests.e2e.wire.wiring import HEADERS, Wire, message, serving, state

MIB = 1024**2


async def sent(wire: Wire, size: int) -> dict[str, Any]:
    """What a message of a size is answered."""
    given = {"message": message(text="x" * size), "configuration": {"returnImmediately": True}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": given}
    answer = await wire.http.post(f"{wire.url}/", json=body, headers=HEADERS)
    assert answer.headers.get("Retry-After", "60") == "60"
    decoded: dict[str, Any] = answer.json()
    return decoded


async def test_only_messages_that_are_short_for_what_is_left_are_taken_and_work_goes_on() -> None:
    gate, left = Gate(), 100 * MIB
    async with serving(gate, free_bytes=lambda: left) as wire:
        large = (await sent(wire, MIB))["result"]["task"]
        left = 40 * MIB
        refused = await sent(wire, MIB)
        short = await sent(wire, 20_000)
        canceled = await wire.rpc("CancelTask", {"id": large["id"]})
        left = 0
        longer, tiny = await sent(wire, 20_000), await sent(wire, 500)
        gate.go.set()
    assert refused["error"]["data"][0]["reason"] == "STORAGE_LOW"
    assert "nearly full" in refused["error"]["message"]
    assert state(short["result"]["task"]) in ("submitted", "working")
    assert state(canceled["result"]) == "canceled"
    assert longer["error"]["data"][0]["reason"] == "STORAGE_LOW"
    assert "task" in tiny["result"]


async def test_an_operator_is_told_what_is_left_while_the_agent_stays_ready() -> None:
    left = 100 * MIB
    async with serving(Gate(), free_bytes=lambda: left) as wire:
        before = await wire.http.get(f"{wire.url}/readyz")
        left = 40 * MIB
        after = await wire.http.get(f"{wire.url}/readyz")
        metrics = await wire.http.get(f"{wire.url}/metrics")
    assert before.json()["detail"] == ""
    assert after.status_code == 200
    assert "40 MiB are left" in after.json()["detail"]
    assert "platform_engineer_free_bytes 4.194304e+07" in metrics.text


async def test_nothing_is_kept_free_where_that_is_not_wanted_or_the_room_is_not_known() -> None:
    def gone() -> int:
        raise FileNotFoundError

    for settings, free in (({"DISK_RESERVE_MB": "0"}, int), ({}, gone), ({}, None)):
        gate = Gate()
        async with serving(gate, settings=settings, free_bytes=free) as wire:
            assert "task" in (await sent(wire, MIB))["result"]
            gate.go.set()
