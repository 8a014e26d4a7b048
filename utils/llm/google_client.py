"""The client of Gemini: Google's Gemini API, and Vertex AI."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import BaseMessage
from langchain_google_genai import ChatGoogleGenerativeAI

from utils.errors import SettingsError
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
from utils.llm.provider_client import guard_http
from utils.llm.request_rate import request_limiter
from utils.net.loopback import is_loopback
from utils.settings import LLMSettings, ModelProvider

_EFFORTS = ("minimal", "low", "medium", "high")


class GeminiChatModel(CompleteAnswers, ChatGoogleGenerativeAI):
    """`ChatGoogleGenerativeAI` with further fields in each request."""

    extra_body: dict[str, Any] | None = None

    def _prepare_request(self, messages: list[BaseMessage], **kwargs: Any) -> dict[str, Any]:
        if self.extra_body:
            kwargs.setdefault("http_options", {"extra_body": self.extra_body})
        return super()._prepare_request(messages, **kwargs)


def google_model(settings: LLMSettings) -> ChatGoogleGenerativeAI:
    """The chat model of these settings.

    Raises:
        SettingsError: A setting is missing or wrong.
    """
    url = address(settings.google_base_url, "GOOGLE_GEMINI_BASE_URL")
    options: dict[str, Any] = given(
        max_output_tokens=settings.max_output_tokens,
        base_url=url,
        reasoning_effort=effort_of(settings, _EFFORTS, "Gemini"),
        additional_headers=extra_headers(settings),
        extra_body=extra_body(settings),
        include_thoughts=True if settings.show_reasoning else None,
    )
    if is_loopback(url):
        options["client_args"] = {"trust_env": False, "headers": {"Connection": "close"}}
    model = GeminiChatModel(
        model=model_name(settings),
        temperature=settings.temperature,  # also if it is unset: the client has a default of its own
        timeout=longest_silence(settings),
        rate_limiter=request_limiter(settings),
        max_retries=1,  # a single attempt: retries are made, counted and shown by `ModelRecovery` alone
        **_account(settings),
        **options,
    )
    client: Any = model.client
    http = client._api_client._async_httpx_client  # noqa: SLF001 - its HTTP client is not public
    if (
        http is not None
    ):  # it has none if it reaches Vertex AI through the client of Google's authentication library
        guard_http(http)
    return model


def _account(settings: LLMSettings) -> dict[str, Any]:
    if settings.provider is ModelProvider.GOOGLE_GEMINI:
        key = required(settings.google_api_key, "GOOGLE_API_KEY", settings)
        return {"vertexai": False, "google_api_key": key}
    if settings.google_project is not None:
        return {
            "vertexai": True,
            "project": settings.google_project,
            "location": settings.google_location,
            "google_api_key": None,
        }
    if settings.google_api_key is not None:
        return {"vertexai": True, "google_api_key": settings.google_api_key}
    raise SettingsError(
        "GOOGLE_CLOUD_PROJECT",
        f"Set GOOGLE_CLOUD_PROJECT, or GOOGLE_API_KEY: LLM_PROVIDER={settings.provider} needs one of them.",
    )
