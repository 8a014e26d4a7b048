"""Real processes: their logs, and one trace over all of them."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.e2e.observability.processes import KEYS, ROOT, SUPERVISOR, Collector, Seen, Served, ready, started
from utils.testing.live_server import running

SECRET = "correct-horse-battery-staple"
WORDS = 'lookup value by key "Zanzibar-Ada"'
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{CALLER}-01"


@dataclass(frozen=True)
class House:
    """What both processes left behind after one conversation."""

    supervisor: Served
    keys: Served
    collector: Collector
    answer: str

    @property
    def lines(self) -> list[str]:
        return [*self.supervisor.lines, *self.keys.lines]

    def span(self, service: str, name: str) -> Seen:
        (found,) = [one for one in self.collector.spans if (one.service, one.name) == (service, name)]
        return found


async def send(url: str, text: str, headers: dict[str, str]) -> str:
    message = {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": text}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    async with httpx.AsyncClient(trust_env=False, timeout=60) as http:
        answer = await http.post(url, json=body, headers={"A2A-Version": "1.0", **headers})
    return answer.text


@asynccontextmanager
async def both(folder: Path, settings: dict[str, str]) -> AsyncIterator[tuple[Served, Served]]:
    common = {"LOG_FORMAT": "json", "OPENAI_API_KEY": SECRET, "LLM_PROVIDER": "embedded", **settings}
    with ExitStack() as stack:
        keys = stack.enter_context(started(folder, "keys", KEYS, common))
        agents = {
            "SUB_AGENTS": f"keys={keys.url}",
            "SUB_AGENTS_TRUST": "keys=own",
            "SUB_AGENT_REFRESH_SECONDS": "0.3",
        }
        supervisor = stack.enter_context(started(folder, "supervisor", SUPERVISOR, {**common, **agents}))
        async with ready(keys), ready(supervisor):
            yield supervisor, keys


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    return asyncio.run(_house(tmp_path_factory.mktemp("processes")))


async def _house(folder: Path) -> House:
    collector = Collector()
    async with running(collector.app()) as url:
        settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=platform"}
        async with both(folder, settings) as (supervisor, keys):
            headers = {"traceparent": TRACEPARENT, "Authorization": f"Bearer {SECRET}"}
            answer = await send(supervisor.url, WORDS, headers)
            await asyncio.gather(asyncio.to_thread(supervisor.stop), asyncio.to_thread(keys.stop))
    return House(supervisor, keys, collector, answer)


def test_one_request_is_one_trace_over_every_process_that_worked_on_it(house: House) -> None:
    assert '"TASK_STATE_COMPLETED"' in house.answer, house.answer
    turn = house.span("platform-engineer", "turn platform-engineer")
    delegation = house.span("platform-engineer", "delegate keys")
    remote = house.span("keys", "turn keys")
    tool = house.span("keys", "execute_tool lookup")
    asked = house.span("platform-engineer", "a2a SendMessage")
    sent = house.span("keys", "a2a SendStreamingMessage")
    assert {one.trace for one in house.collector.spans} == {TRACE}
    assert [one.parent for one in (asked, turn, delegation, sent, remote, tool)] == [
        CALLER,
        asked.id,
        turn.id,
        delegation.id,
        sent.id,
        remote.id,
    ]
    calls = [one for one in house.collector.spans if one.name.startswith("chat ")]
    assert {one.parent for one in calls} == {turn.id, remote.id}
    assert set(house.collector.headers) == {"platform"}


def test_spans_carry_no_words_of_the_user_and_none_of_the_sdk(house: House) -> None:
    assert house.collector.spans
    for span in house.collector.spans:
        assert "Zanzibar" not in str(span)
        assert span.scope == "platform-engineer"


def test_every_log_line_is_json_the_web_servers_too(house: House) -> None:
    lines = [json.loads(line) for line in house.lines]
    assert {"uvicorn.error"} <= {line.get("logger") for line in lines}
    for line in lines:
        assert line["event"]
        assert line["level"]
        assert line["timestamp"]


def test_no_secret_and_no_words_of_the_user_stand_in_the_log(house: House) -> None:
    text = "\n".join(house.lines)
    assert text
    assert SECRET not in text
    assert "Zanzibar" not in text


def test_lines_of_a_turn_carry_trace_task_and_context(house: House) -> None:
    lines = [json.loads(line) for line in house.lines]
    ended = [line for line in lines if line["event"] == "turn.ended"]
    assert {line["agent"] for line in ended} == {"platform-engineer", "keys"}
    for line in ended:
        assert line["trace_id"] == TRACE
        assert line["task_id"]
        assert line["context_id"]
        assert line["outcome"] == "completed"


@pytest.mark.parametrize(("asked", "made"), [("", "False"), ("true", "True"), ("false", "False")])
@pytest.mark.parametrize("module", ["utils.a2a_common", "multi_agents.cli.peer.connection"])
@pytest.mark.long
def test_the_sdks_own_spans_are_made_only_when_they_are_asked_for(
    tmp_path: Path, module: str, asked: str, made: str
) -> None:
    switch = "OTEL_INSTRUMENTATION_A2A_SDK_ENABLED"
    environ = {name: value for name, value in os.environ.items() if name != switch} | {
        "PYTHONPATH": str(ROOT)
    }
    if asked:
        environ[switch] = asked
    code = f"import {module}, a2a.utils.telemetry as sdk; print(sdk.otel_enabled)"
    run = subprocess.run(
        [sys.executable, "-c", code], check=False, env=environ, cwd=tmp_path, capture_output=True, text=True
    )
    assert run.stdout.strip() == made, run.stderr


@pytest.mark.parametrize(
    "module", ["multi_agents.platform_engineer.protocol_bindings.a2a.main", "agents.rag.agent"]
)
def test_no_entry_imports_the_sdk_before_the_switch_is_set(tmp_path: Path, module: str) -> None:
    code = (
        "import sys, utils.observability.sdk_spans as switch;"
        "switch.switch_sdk_spans = lambda: print('a2a.utils.telemetry' in sys.modules);"
        f"import {module}"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", code], check=False, env=environ, cwd=tmp_path, capture_output=True, text=True
    )
    assert run.stdout.split() == ["False"], run.stderr
