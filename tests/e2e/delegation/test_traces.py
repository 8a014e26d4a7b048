"""What a foreign agent learns of a caller's trace: nothing. It gets one of its own; an agent of ours goes on with the caller's."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import use_span

from tests.e2e.delegation.foreign import Foreign, answering, foreign
from tests.e2e.delegation.teams import model, supervising
from tests.e2e.wire.wiring import HEADERS, message
from utils.observability.trace import separate_trace_headers
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
NOTE = "note=for-your-eyes-only"
PARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-0[01]")


@asynccontextmanager
async def asked(trust: str) -> AsyncIterator[Foreign]:
    """An agent that was asked twice in a turn, by a caller with a trace."""
    script = [
        calls(call("weather", "c1", request="Rome?")),
        calls(call("weather", "c2", request="Paris?")),
        "Sunny.",
    ]
    trace = {"traceparent": f"00-{TRACE}-{CALLER}-01", "tracestate": NOTE}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message("Weather?")}}
    async with (
        foreign(answering("Sunny.")) as weather,
        supervising({"weather": weather.url}, model(script), {"SUB_AGENTS_TRUST": f"weather={trust}"}) as url,
        httpx.AsyncClient(trust_env=False, timeout=60) as http,
    ):
        answer = await http.post(url, json=body, headers={**HEADERS, **trace})
        assert "TASK_STATE_COMPLETED" in answer.text
        assert len(weather.messages) == 2
        yield weather


def parents(agent: Foreign) -> list[tuple[str, str]]:
    """The trace and the span of each request that came with one."""
    return [found.groups() for each in agent.ear.headers if (found := PARENT.fullmatch(each))]  # type: ignore[misc]


async def test_a_foreign_agent_gets_a_trace_of_its_own_and_no_note_of_the_caller() -> None:
    async with asked("foreign") as weather:
        sent = " ".join(weather.strings)
        told = parents(weather)
    for private in (TRACE, CALLER, NOTE):
        assert private not in sent
    assert len({trace for trace, _ in told}) == 1
    assert len({span for _, span in told}) == len(told) >= 2


async def test_an_agent_of_ours_goes_on_with_the_trace_of_the_caller() -> None:
    async with asked("own") as weather:
        told = parents(weather)
        assert NOTE in weather.ear.headers
    assert {trace for trace, _ in told} == {TRACE}


def test_our_span_is_linked_once_to_the_trace_of_each_service_elsewhere() -> None:
    span = TracerProvider().get_tracer("test").start_span("delegate")
    with use_span(span):
        sent = [separate_trace_headers(name) for name in ("weather", "weather", "vault")]
    first, again, other = [PARENT.fullmatch(each["traceparent"]) for each in sent]
    assert first
    assert again
    assert other
    assert first[1] == again[1] != other[1]
    linked = [(f"{each.context.trace_id:032x}", dict(each.attributes or {})) for each in span.links]  # type: ignore[attr-defined]
    assert linked == [(first[1], {"peer.service": "weather"}), (other[1], {"peer.service": "vault"})]


def test_outside_a_span_no_trace_is_begun_elsewhere() -> None:
    assert separate_trace_headers("weather") == {}
