"""Points out a language model that is there and not used: a provider's key, or a model server on this machine."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from utils.net.bounded import Bound
from utils.net.web_client import web_client
from utils.settings import EmbeddingSettings, LLMSettings, ModelProvider, process_environment

PROBE_SECONDS = 0.5
LONGEST_NAME = 200

SERVERS = {"Ollama": "http://127.0.0.1:11434/v1", "A model server": "http://127.0.0.1:8080/v1"}
"""Servers with OpenAI's API at the ports that they usually have."""

_KEYS: Mapping[str, tuple[ModelProvider, str]] = {
    "OPENAI_API_KEY": (ModelProvider.OPENAI, "LLM_MODEL=gpt-4.1"),
    "AZURE_OPENAI_API_KEY": (ModelProvider.AZURE_OPENAI, "LLM_MODEL=DEPLOYMENT"),
    "AWS_ACCESS_KEY_ID": (ModelProvider.AWS_BEDROCK, "LLM_MODEL=MODEL"),
    "AWS_PROFILE": (ModelProvider.AWS_BEDROCK, "LLM_MODEL=MODEL"),
    "ANTHROPIC_API_KEY": (ModelProvider.ANTHROPIC, "LLM_MODEL=claude-sonnet-5"),
    "GOOGLE_API_KEY": (ModelProvider.GOOGLE_GEMINI, "LLM_MODEL=gemini-3-pro"),
}
_COMMAND = "platform-engineer chat"
_ELSEWHERE = {
    "GEMINI_API_KEY": 'LLM_PROVIDER=google-gemini GOOGLE_API_KEY="$GEMINI_API_KEY" LLM_MODEL=gemini-3-pro',
    "OPENROUTER_API_KEY": "LLM_PROVIDER=openai-compatible OPENAI_BASE_URL=https://openrouter.ai/api/v1 "
    'OPENAI_API_KEY="$OPENROUTER_API_KEY" LLM_MODEL=MODEL',
}
"""Keys that are no settings here: how they are passed on."""


@asynccontextmanager
async def pointed_out(
    tell: Callable[[str], Awaitable[None]], servers: Mapping[str, str] | None = None
) -> AsyncIterator[None]:
    """Look for an unused model beside what happens in the block, and tell of the first one in one line."""
    looking = asyncio.create_task(_look(tell, SERVERS if servers is None else servers))
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


async def _look(tell: Callable[[str], Awaitable[None]], servers: Mapping[str, str]) -> None:
    if sentence := await unused_model(process_environment(), servers):
        await tell(sentence)


async def unused_model(environ: Mapping[str, str], servers: Mapping[str, str] | None = None) -> str:
    """How to use an available model while the offline model answers; empty without one."""
    if LLMSettings.load(environ).provider is not ModelProvider.EMBEDDED:
        return ""
    return unused_key(environ) or await unused_server(SERVERS if servers is None else servers)


def unused_key(environ: Mapping[str, str]) -> str:
    """How to use a key of the environment while the offline model answers; empty without one. Never shows the key."""
    for name, (provider, model) in _KEYS.items():
        if environ.get(name) and not _embeds_with(provider, environ):
            return f"{name} is set and not used: LLM_PROVIDER={provider.value} {model} {_COMMAND} uses it."
    other = next((name for name in _ELSEWHERE if environ.get(name)), None)
    return f"{other} is set and not used: {_ELSEWHERE[other]} {_COMMAND} uses it." if other else ""


def _embeds_with(provider: ModelProvider, environ: Mapping[str, str]) -> bool:
    return EmbeddingSettings.load(environ).provider.value == provider.value


async def unused_server(servers: Mapping[str, str]) -> str:
    """How to use a model server of this machine; empty if none answers at once."""
    async with web_client(Bound(), trust_env=False, timeout=PROBE_SECONDS) as http:
        found = await asyncio.gather(*(_model_at(http, url) for url in servers.values()))
    for (name, url), model in zip(servers.items(), found, strict=True):
        if model:
            settings = f"LLM_PROVIDER=openai-compatible OPENAI_BASE_URL={url} LLM_MODEL={shlex.quote(model)}"
            return f"{name} answers at {url} and is not used: {settings} {_COMMAND} uses it."
    return ""


async def _model_at(http: httpx.AsyncClient, url: str) -> str:
    """The first model that a server names; empty where none does."""
    try:
        listed: Any = (await http.get(f"{url}/models")).json()
        model = listed["data"][0]["id"]
    except (httpx.HTTPError, ValueError, LookupError, TypeError):
        return ""
    return model if isinstance(model, str) and model.isprintable() and len(model) <= LONGEST_NAME else ""
