"""Many unary clients at once at a whole service, whose line is bounded."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import httpx

from benchmarks.service.client import COMPLETED, http_client
from benchmarks.service.doors import HEADERS, body
from benchmarks.service.gate import Gate
from benchmarks.service.processes import running_service
from benchmarks.service.script import SAY, Order

CLIENTS = 256
SETTINGS = {"MAX_CONCURRENT_TURNS": "8", "MAX_WAITING_TURNS": "64", "LOG_LEVEL": "WARNING"}

Fault = Callable[[str, str], None]


async def unary_clients(fault: Fault) -> None:
    """Ask once from each client; past the line one is told when to come again."""
    with tempfile.TemporaryDirectory() as folder:
        async with running_service(Path(folder), Gate(), SETTINGS) as service, http_client() as http:
            await _ask(http, service.url)
            answers = await asyncio.gather(*(_ask(http, service.url) for _ in range(CLIENTS)))
    kinds = Counter(kind for kind, _ in answers)
    served = sorted(seconds for kind, seconds in answers if kind == "served")
    refused = sorted(seconds for kind, seconds in answers if kind == "503")
    print(f"  {CLIENTS} unary clients: {dict(kinds)}")
    if len(served) > 1:
        p50, p99 = statistics.median(served), statistics.quantiles(served, n=100)[98]
        print(f"  served after p50 {p50:.2f} s, p99 {p99:.2f} s, first {served[0]:.2f} s")
        if p50 > 0.8 * p99:
            fault("late", f"p50 {p50:.2f} s is not below p99 {p99:.2f} s: nobody was served early")
    if refused:
        print(f"  refused after p50 {statistics.median(refused):.2f} s, longest {refused[-1]:.2f} s")
    else:
        fault("unbounded", f"none of {CLIENTS} clients was told to come again")
    if others := sum(count for kind, count in kinds.items() if kind not in {"served", "503"}):
        fault(
            "errors",
            f"{dict(kinds)}",
        )
        assert others


async def _ask(http: httpx.AsyncClient, url: str) -> tuple[str, float]:
    order = Order(uuid4().hex[:8], SAY)
    message = {"messageId": str(uuid4()), "role": "ROLE_USER", "parts": [{"text": order.text}]}
    began = time.monotonic()
    answer = await http.post(f"{url}/", json=body("SendMessage", {"message": message}), headers=HEADERS)
    taken = time.monotonic() - began
    if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
        return "503" if answer.headers.get("retry-after") else "503 without Retry-After", taken
    task = answer.json().get("result", {}).get("task", {})
    done = task.get("status", {}).get("state") == COMPLETED and order.answer in answer.text
    return "served" if done else f"{answer.status_code} {task.get('status', {}).get('state')}", taken
