"""One request after the other at a service of its own, with what each cost."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import NamedTuple

import httpx
from prometheus_client.parser import text_string_to_metric_families

from agents.github.testing.server import run_github_server
from multi_agents.cli.peer.connection import connect
from multi_agents.cli.service.local import LaunchOptions, local_service
from multi_agents.cli.service.runfile import RunningService
from multi_agents.cli.view.startup import StartupView
from tests.eval.blind.question import Question, Result
from tests.eval.blind.service import ask_one, environment
from tests.ports import free_port

PATIENCE = {
    "LLM_TIMEOUT_SECONDS": "1800",
    "LLM_STREAM_TIMEOUT_SECONDS": "600",
    "SUB_AGENT_TIMEOUT_SECONDS": "3600",
    "TURN_TIMEOUT_SECONDS": "7200",
    "LLM_MAX_RETRIES": "1",
}
"""A model on two processors takes minutes where a provider takes a second."""


class Row(NamedTuple):
    """What is told of one request."""

    id: str
    question: str
    agents: list[str]
    right: bool
    invented: bool
    raw_call: bool
    state: str
    calls: int
    input_tokens: int
    output_tokens: int
    seconds: int
    answer: str


class Cost(NamedTuple):
    """Model calls, tokens and seconds of one request, of all agents together."""

    calls: int
    input_tokens: int
    output_tokens: int
    seconds: float


async def ask(
    questions: Sequence[Question], home: Path, model: str, calls: str
) -> AsyncIterator[tuple[Result, Cost]]:
    """Ask each in a conversation of its own.

    Args:
        questions: What is asked.
        home: Data folder of the service.
        model: Address of the model's API.
        calls: `LLM_TOOL_CALLS`.
    """
    settings = {
        "LLM_PROVIDER": "openai-compatible",
        "OPENAI_BASE_URL": model,
        "OPENAI_API_KEY": "none",
        "LLM_MODEL": "qwen2.5-coder-1.5b-instruct",
        "LLM_TEMPERATURE": "0",
        "LLM_TOOL_CALLS": calls,
        "LLM_CHECK": "false",
        "MAX_CONTEXT_TOKENS": "8192",
        "LLM_MAX_OUTPUT_TOKENS": "400",
        "CONTEXT_PINS_BY_MODEL": "false",
        "ENABLE_AUTO_COMPRESSION": "false",
        "MAX_TOOL_OUTPUT_SIZE": "4000",
        **PATIENCE,
    }
    with run_github_server() as github, environment(home, github.url, settings):
        async with (
            local_service(LaunchOptions(port=free_port()), StartupView) as (running, _),
            connect(running.supervisor.url) as peer,
        ):
            for question in questions:
                before, began = await _spent(running), time.monotonic()
                result = await ask_one(peer, question, github.recorder)
                after = await _spent(running)
                spent = [int(b - a) for a, b in zip(before, after, strict=True)]
                yield result, Cost(spent[0], spent[1], spent[2], time.monotonic() - began)


async def _spent(running: RunningService) -> tuple[float, float, float]:
    """Model calls, input and output tokens so far."""
    totals = {"calls": 0.0, "input": 0.0, "output": 0.0}
    async with httpx.AsyncClient() as http:
        for agent in running.agents:
            text = (await http.get(f"{agent.url}/metrics")).text
            for family in text_string_to_metric_families(text):
                for sample in family.samples:
                    if sample.name.endswith("model_calls_total"):
                        totals["calls"] += sample.value
                    elif sample.name.endswith("tokens_total") and "delegated" not in sample.name:
                        direction = sample.labels.get("direction", "")
                        totals[direction] = totals.get(direction, 0.0) + sample.value
    return totals["calls"], totals["input"], totals["output"]
