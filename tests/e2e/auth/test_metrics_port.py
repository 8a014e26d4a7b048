"""A port of its own serves the metrics and probes of an agent that knows its callers, and nothing else."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from tests.e2e.agents.peers import Keys
from tests.e2e.wire.ways import served
from tests.ports import free_port
from utils.a2a_common.server.http.metrics_server import serving_metrics
from utils.errors import SettingsError
from utils.testing.live_server import loopback_socket
from utils.testing.scripted_model import ScriptedModel


async def test_it_answers_a_scraper_without_a_credential_and_the_agents_own_port_does_not(tmp_path: Path):
    port = free_port()
    known = {"AUTH_MODE": "api-key", "METRICS_PORT": str(port)}
    async with (
        served(Keys, ScriptedModel.of("x"), tmp_path, **known) as agent,
        httpx.AsyncClient(trust_env=False) as http,
    ):
        scraped = await http.get(f"http://127.0.0.1:{port}/metrics")
        assert scraped.status_code == 200
        assert "platform_engineer_" in scraped.text
        for probe in ("/healthz", "/readyz"):
            assert (await http.get(f"http://127.0.0.1:{port}{probe}")).status_code == 200
        assert (await http.get(f"{agent.url}/metrics")).status_code == 401
        for other in ("/", "/rest/tasks", "/.well-known/agent-card.json"):
            assert (await http.get(f"http://127.0.0.1:{port}{other}")).status_code == 404
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False)


async def test_a_port_that_is_taken_is_named():
    async def nothing(_: Request) -> Response:
        return PlainTextResponse("")

    with loopback_socket() as taken:
        port = taken.getsockname()[1]
        serving = serving_metrics([Route("/metrics", nothing)], host="127.0.0.1", port=port)
        with pytest.raises(SettingsError) as refused:
            await serving.__aenter__()
    assert (refused.value.variable, str(port) in refused.value.message) == ("METRICS_PORT", True)
