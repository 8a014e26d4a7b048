"""The context window that a model server reports: Ollama, llama.cpp, vLLM, SGLang, LM Studio and OpenRouter do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import httpx

from utils.llm.client_options import KEYLESS, extra_headers
from utils.net.bounded import Bound
from utils.net.loopback import is_loopback
from utils.net.web_client import web_client
from utils.settings import LLMSettings, ModelProvider

ASK_SECONDS = 3.0

OLLAMA_DEFAULT = 4_096
"""Window of a model on Ollama, unless the server, the model or the size of the GPU says otherwise."""

_LARGEST = 10_000_000
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)


class ServerWindow(NamedTuple):
    """A window, in tokens, and the setting of the server that makes it larger."""

    tokens: int
    larger: str


async def server_window(settings: LLMSettings) -> ServerWindow | None:
    """The window that the server at `OPENAI_BASE_URL` reports; `None` if it does not respond or does not report one."""
    url, model = settings.openai_base_url, settings.model
    if settings.provider is not ModelProvider.OPENAI_COMPATIBLE or url is None or model is None:
        return None
    key = (settings.openai_api_key or KEYLESS).get_secret_value()
    headers = {"Authorization": f"Bearer {key}"} | (extra_headers(settings) or {})
    async with web_client(
        Bound(), trust_env=not is_loopback(url), timeout=ASK_SECONDS, headers=headers
    ) as http:
        base = url.rstrip("/").removesuffix("/v1")
        try:
            async with asyncio.timeout(ASK_SECONDS):
                return await _query(http, url.rstrip("/"), base, model)
        except TimeoutError:
            return None


async def _query(http: httpx.AsyncClient, api: str, base: str, model: str) -> ServerWindow | None:
    listed, shown, props, studio = await asyncio.gather(
        _json(http, "GET", f"{api}/models"),
        _json(http, "POST", f"{base}/api/show", {"model": model}),
        _json(http, "GET", f"{base}/props"),
        _json(http, "GET", f"{base}/api/v0/models"),
    )
    if isinstance(shown.get("model_info"), Mapping):
        return await _ollama(http, base, model, shown)
    if found := _tokens(_of(props.get("default_generation_settings"), "n_ctx")):
        return ServerWindow(found, "start llama-server with --ctx-size 16384 or more")
    if found := _tokens(_of(_named(studio, model), "loaded_context_length")):
        return ServerWindow(found, "load the model in LM Studio with a context length of 16384 or more")
    entry = _named(listed, model)
    if found := _tokens(_of(entry, "max_model_len")):
        return ServerWindow(found, "start the server with --max-model-len 16384 or more")
    if found := _tokens(_of(entry, "context_length")):
        return ServerWindow(found, "choose an LLM_MODEL with a larger window")
    return None


async def _ollama(
    http: httpx.AsyncClient, base: str, model: str, shown: Mapping[str, Any]
) -> ServerWindow | None:
    """The window of a loaded model, else that of its Modelfile, else Ollama's default; at most the one it was trained with."""
    running = await _json(http, "GET", f"{base}/api/ps")
    loaded = _of(_named({"data": running.get("models")}, model), "context_length")
    written = _NUM_CTX.search(str(shown.get("parameters") or ""))
    trained = [size for name, size in shown["model_info"].items() if name.endswith(".context_length")]
    tokens = _tokens(loaded) or (int(written[1]) if written else OLLAMA_DEFAULT)
    most = min((size for size in map(_tokens, trained) if size), default=tokens)
    return ServerWindow(min(tokens, most), "start Ollama with OLLAMA_CONTEXT_LENGTH=16384 or more")


async def _json(http: httpx.AsyncClient, method: str, url: str, body: Any = None) -> Mapping[str, Any]:
    try:
        response = await http.request(method, url, json=body)
        value = response.json() if response.is_success else {}
    except (httpx.HTTPError, ValueError):
        return {}
    return value if isinstance(value, Mapping) else {}


def _named(listed: Mapping[str, Any], model: str) -> Any:
    entries = listed.get("data")
    known = [each for each in entries if isinstance(each, Mapping)] if isinstance(entries, list) else []
    wanted = {model, f"{model}:latest"}
    return next((each for each in known if each.get("id", each.get("model")) in wanted), None)


def _of(value: Any, field: str) -> Any:
    return value.get(field) if isinstance(value, Mapping) else None


def _tokens(value: Any) -> int | None:
    return value if isinstance(value, int) and 0 < value < _LARGEST else None
