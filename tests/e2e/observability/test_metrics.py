"""What /metrics says after real traffic, over HTTP."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from typing import Any

import httpx
import pytest
from a2a.types.a2a_pb2 import CancelTaskRequest, TaskState

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys, ask, connected, message
from tests.e2e.agents.test_delegation import team
from tests.e2e.observability.scrape import Growth, samples, scraped
from utils.events import Usage
from utils.observability.catalogue import CATALOGUE
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls
from utils.testing.strict_provider import ChatRequest, Reply, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

EMAIL = "ada.lovelace@example.com"


async def growth(*script: Any, text: str = "hello") -> Growth:
    async with running_agent(Keys, model=ScriptedModel(script=list(script))) as url:
        before = await scraped(url)
        async with connected(url) as client:
            await ask(client, text)
        return Growth(before, await scraped(url))


async def test_a_turn_is_counted_by_its_outcome_with_its_time_and_its_first_token() -> None:
    grown = await growth(ScriptedReply(chunks=["Hello ", "there."]))
    assert grown.of("turns_total", agent="keys", outcome="completed") == 1
    assert grown.of("turn_seconds_count", agent="keys") == 1
    assert grown.of("first_token_seconds_count", agent="keys") == 1
    assert grown.of("turns_running", agent="keys") == 0


async def test_what_is_stored_is_told_by_kind() -> None:
    async with running_agent(Keys, model=ScriptedModel(script=["Hello."])) as url:
        async with connected(url) as client:
            await ask(client, "hello")
        told = samples(await scraped(url))
    stored = {dict(labels)["kind"]: size for (name, labels), size in told.items() if name == "stored_bytes"}
    assert {"tasks", "checkpoints", "runs"} <= set(stored)
    assert stored["tasks"] > 1_000


async def test_a_failed_turn_is_counted_with_its_code() -> None:
    grown = await growth(calls(call("lookup", key="down")), "The service is down.")
    assert grown.of("turns_total", agent="keys", outcome="failed") == 1
    assert grown.of("turn_failures_total", agent="keys", code="upstream_unavailable") == 1


@pytest.mark.parametrize("share", [0.0, 100.0])
async def test_tokens_are_those_of_the_request_where_the_server_says_something_impossible(
    share: float,
) -> None:
    def answer(_request: ChatRequest) -> Reply:
        return Reply("Hello there.", prompt_share=share)

    with run_strict_provider(answer, window=32_000) as double:
        environ = double.environment("openai-compatible")
        async with running_agent(Keys, environ=environ) as url:
            before = await scraped(url)
            async with connected(url) as client:
                await ask(client, "hello")
            grown = Growth(before, await scraped(url))
    sent = sum(request.tokens for request in double.requests)
    assert 0.7 * sent <= grown.of("tokens_total", agent="keys", direction="input") <= 1.5 * sent


async def test_a_canceled_turn_is_counted_as_canceled() -> None:
    model = ScriptedModel(script=[ScriptedReply(chunks=["One ", "two."], chunk_gate=asyncio.Event())])
    async with running_agent(Keys, model=model) as url, connected(url) as client:
        before = await scraped(url)
        async for event in client.send_message(message("hello")):
            if event.HasField("task"):
                task_id = event.task.id
            if event.HasField("artifact_update"):
                during = await scraped(url)
                task = await client.cancel_task(CancelTaskRequest(id=task_id))
                break
        grown = Growth(before, await scraped(url))
    assert task.status.state == TaskState.TASK_STATE_CANCELED
    assert Growth(before, during).of("turns_running", agent="keys") == 1
    assert Growth(before, during).of("open_streams") == 1
    assert grown.of("turns_total", agent="keys", outcome="canceled") == 1
    assert grown.of("model_calls_total", agent="keys", outcome="canceled") == 1


async def test_tool_calls_are_counted_by_outcome_and_a_tool_that_a_model_made_up_has_no_name() -> None:
    wanted = calls(call("lookup", key="a"), call("lookup", key="bug"), call(EMAIL.partition("@")[0], x="y"))
    grown = await growth(wanted, "Done.")
    assert grown.of("tool_calls_total", tool="lookup", outcome="ok") == 1
    assert grown.of("tool_calls_total", tool="lookup", outcome="error") == 1
    assert grown.of("tool_calls_total", tool="unknown", outcome="error") == 1


async def test_tokens_are_counted_by_direction_where_they_are_used_and_where_they_are_reported() -> None:
    delegate = ScriptedReply(tool_calls=[call("keys", request="Look up a.")], usage=Usage(100, 10, 40))
    answer = ScriptedReply(text="It is a.", usage=Usage(200, 20))
    sub = ScriptedReply(text="a", usage=Usage(7, 3))
    async with team([delegate, answer], keys=[sub]) as (url, _, _), connected(url) as client:
        before = await scraped(url)
        await ask(client, "What is a?")
        grown = Growth(before, await scraped(url))
    supervisor = PlatformEngineer.name
    assert grown.of("tokens_total", agent=supervisor, direction="input") == 300
    assert grown.of("tokens_total", agent=supervisor, direction="output") == 30
    assert grown.of("tokens_total", agent=supervisor, direction="cached") == 40
    assert grown.of("tokens_total", agent="keys", direction="input") == 7
    assert grown.of("delegated_tokens_total", agent="keys", direction="output") == 3
    assert grown.of("delegations_total", agent="keys", state="completed") == 1
    assert grown.of("delegation_seconds_count", agent="keys") == 1


async def test_no_user_no_text_and_no_id_is_ever_a_label() -> None:
    script = [calls(call("keys", request=f"Look up {EMAIL}.")), f"Mail {EMAIL}."]
    keys = [calls(call("lookup", key=EMAIL), call(EMAIL, key="a")), f"It belongs to {EMAIL}."]
    async with team(script, keys=keys) as (url, _, urls), connected(url) as client:
        answer = await ask(client, f"Who is {EMAIL}?", context_id=f"context-of-{EMAIL}")
        texts = await asyncio.gather(scraped(url), scraped(urls["keys"]))
    names = {name for metric in CATALOGUE for name in metric.labels} | {"le"}
    for text in texts:
        assert "ada.lovelace" not in text
        assert answer.task_id not in text
        for _, labels in samples(text):
            assert {name for name, _ in labels} <= names


async def test_scrapers_ask_by_address_but_a_foreign_name_must_be_allowed() -> None:
    async with (
        running_agent(Keys, model=ScriptedModel(script=[])) as url,
        httpx.AsyncClient(trust_env=False) as http,
    ):
        by_address = await http.get(f"{url}/metrics", headers={"Host": "10.42.0.7:8000"})
        by_name = await http.get(f"{url}/metrics", headers={"Host": "rebound.example"})
        page = await http.get(f"{url}/metrics", headers={"Origin": "http://page.example"})
        other = await http.get(f"{url}/.well-known/agent-card.json", headers={"Host": "10.42.0.7:8000"})
    assert by_address.status_code == 200
    assert [by_name.status_code, page.status_code, other.status_code] == [421, 403, 421]


@pytest.mark.servers
async def test_prometheus_own_checker_has_nothing_to_say() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (Debian package prometheus)")
    script = [calls(call("lookup", key="a")), ScriptedReply(text="It is a.", usage=Usage(5, 2))]
    async with running_agent(Keys, model=ScriptedModel(script=script)) as url, connected(url) as client:
        await ask(client, "hello")
        text = await scraped(url)
    checked = await asyncio.to_thread(
        subprocess.run,
        [promtool, "check", "metrics"],
        input=text.encode(),
        capture_output=True,
        check=False,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


async def test_the_tasks_of_the_event_loop_are_counted_as_they_are_now() -> None:
    async with running_agent(Keys, model=ScriptedModel(script=["unused"])) as url:
        before = await scraped(url)
        waiting = [asyncio.create_task(asyncio.Event().wait()) for _ in range(50)]
        during = await scraped(url)
        for task in waiting:
            task.cancel()
    assert 45 <= Growth(before, during).of("event_loop_tasks") <= 55  # a connection more or less
