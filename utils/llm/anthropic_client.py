"""The client of Anthropic's Messages API."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import anthropic
from langchain_anthropic import ChatAnthropic

from utils.llm.client_options import (
    address,
    effort_of,
    extra_body,
    extra_headers,
    given,
    longest_silence,
    model_name,
    required,
)
from utils.llm.complete_answers import CompleteAnswers
from utils.llm.provider_client import guard_client
from utils.llm.request_rate import request_limiter
from utils.net.loopback import is_loopback
from utils.settings import LLMSettings

ADDRESS = "https://api.anthropic.com"

_DIRECT: dict[str, Any] = {
    "trust_env": False,
    "mounts": {
        "http://": None,
        "https://": None,
        "all://": None,
    },  # else the client uses proxies nevertheless
    "headers": {"Connection": "close"},
}
_EFFORTS = ("low", "medium", "high", "xhigh", "max")


class AnthropicChatModel(CompleteAnswers, ChatAnthropic):
    """`ChatAnthropic` that reaches a server on this machine without a proxy, and reuses no connection of another event loop."""

    @cached_property
    def _client(self) -> anthropic.Client:
        if not is_loopback(self.anthropic_api_url):
            return super()._client
        plain = anthropic.DefaultHttpxClient(**_DIRECT)
        return anthropic.Client(**self._client_params, http_client=plain)

    @cached_property
    def _async_client(self) -> anthropic.AsyncClient:
        if is_loopback(self.anthropic_api_url):
            plain = anthropic.DefaultAsyncHttpxClient(**_DIRECT)
            client = anthropic.AsyncClient(**self._client_params, http_client=plain)
        else:
            client = super()._async_client
        guard_client(client)
        return client


def anthropic_model(settings: LLMSettings) -> ChatAnthropic:
    """The chat model of these settings.

    Raises:
        SettingsError: A setting is missing or wrong.
    """
    url = address(settings.anthropic_base_url, "ANTHROPIC_BASE_URL") or ADDRESS
    options: dict[str, Any] = given(
        temperature=settings.temperature,
        max_tokens=settings.max_output_tokens,
        reasoning_effort=effort_of(settings, _EFFORTS, "Anthropic"),
        default_headers=extra_headers(settings),
    )
    if body := extra_body(settings):
        options["model_kwargs"] = {"extra_body": body}
    return AnthropicChatModel(
        model=model_name(settings),
        api_key=required(settings.anthropic_api_key, "ANTHROPIC_API_KEY", settings),
        base_url=url,
        timeout=longest_silence(settings),
        rate_limiter=request_limiter(settings),
        max_retries=0,  # retries are made, counted and shown by `ModelRecovery` alone
        **options,
    )
