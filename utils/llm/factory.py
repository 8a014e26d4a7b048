"""Creates the chat model of the settings. Only this file knows the providers' classes.

It uses no network: a wrong or missing setting is a `SettingsError` at start, while a wrong key or model name,
which only the provider can recognise, fails at the first call.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, assert_never

from pydantic import ValidationError

from utils.errors import SettingsError
from utils.llm.client_options import (
    CONNECT_SECONDS,
    KEYLESS,
    address,
    effort_of,
    extra_body,
    extra_headers,
    given,
    longest_silence,
    model_name,
    optional_module,
    required,
)
from utils.llm.request_rate import request_limiter
from utils.net.loopback import is_loopback
from utils.process_wide import install
from utils.settings import LLMSettings, ModelProvider, RecoverySettings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from utils.embeddings import Embedder

IDLE_SECONDS = 2.0
"""How long an unused connection stays open: shorter than servers keep it, which would close it just as a request is sent."""

_BEDROCK_EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")
_REASONING_MODEL = re.compile(r"(?:.*/)?(?:o\d|gpt-5)")
"""OpenAI's models that refuse a temperature, unless they do not reason."""


def create_chat_model(
    settings: LLMSettings, *, embedder_factory: Callable[[], Embedder | None] | None = None
) -> BaseChatModel:
    """The chat model of these settings.

    Args:
        settings: Provider, model, credentials and limits.
        embedder_factory: Creates the embeddings of the embedded model; called for that provider only.

    Raises:
        SettingsError: A setting is missing or wrong; names the variable.
    """
    install()
    try:
        return _made(settings, embedder_factory)
    except ValidationError as error:  # the client's own check of a model name or an address
        raise SettingsError(
            "LLM_MODEL",
            f"The {settings.provider} client does not accept these settings: check LLM_MODEL.",
        ) from error


@asynccontextmanager
async def kept_connections(model: BaseChatModel) -> AsyncIterator[BaseChatModel]:
    """Keep connections to a model's server on this machine open between the calls of this block.

    They are closed at the end of the block, in the event loop that opened them.
    """
    client = getattr(model, "http_async_client", None)
    if client is None:  # the server is elsewhere, and the provider's client manages its connections
        yield model
        return
    del client.headers["Connection"]
    async with client:
        yield model


def fallback_of(llm: LLMSettings, recovery: RecoverySettings) -> LLMSettings | None:
    """The settings of the fallback model, or `None`."""
    if recovery.fallback_model is None:
        return None
    changed = {"model": recovery.fallback_model, "provider": recovery.fallback_provider or llm.provider}
    return llm.model_copy(update=changed)


def takes_temperature(settings: LLMSettings) -> bool:
    """Whether a model of OpenAI accepts a temperature: reasoning models refuse every request with one."""
    effort = settings.reasoning_effort
    reasons = _REASONING_MODEL.match(settings.model or "") is not None
    return effort == "none" or (effort is None and not reasons)


def describe_model(settings: LLMSettings) -> str:
    """The model in a few words, for the agent card and `doctor`: "offline model", "openai gpt-4.1"."""
    if settings.provider is ModelProvider.EMBEDDED:
        return "offline model"
    return f"{settings.provider} {settings.model or '(no model set)'}"


def _made(settings: LLMSettings, embedder_factory: Callable[[], Embedder | None] | None) -> BaseChatModel:
    match settings.provider:
        case ModelProvider.EMBEDDED:
            return _embedded(embedder_factory)
        case ModelProvider.OPENAI:
            return _openai(settings)
        case ModelProvider.AZURE_OPENAI:
            return _azure(settings)
        case ModelProvider.AWS_BEDROCK:
            return _bedrock(settings)
        case ModelProvider.OPENAI_COMPATIBLE:
            return _compatible(settings)
        case ModelProvider.ANTHROPIC:
            return _anthropic(settings)
        case ModelProvider.GOOGLE_GEMINI | ModelProvider.GCP_VERTEXAI:
            return _google(settings)
        case _:
            assert_never(settings.provider)


def _embedded(embedder_factory: Callable[[], Embedder | None] | None) -> BaseChatModel:
    from utils.llm.embedded import EmbeddedChatModel

    return EmbeddedChatModel(embedder=embedder_factory() if embedder_factory else None)


def _openai(settings: LLMSettings) -> BaseChatModel:
    key = required(settings.openai_api_key, "OPENAI_API_KEY", settings)  # before a second of imports
    base_url = address(settings.openai_base_url, "OPENAI_BASE_URL")
    from utils.llm.chat_completions import OpenAIChatModel, with_plain_streams

    return with_plain_streams(
        OpenAIChatModel(
            model=model_name(settings),
            api_key=key,
            base_url=base_url,
            **_openai_options(settings, base_url),
            **_responses_options(settings),
        )
    )


def _responses_options(settings: LLMSettings) -> dict[str, Any]:
    """With a reasoning effort the Responses API is used, as OpenAI advises: the encrypted reasoning is sent back to the model."""
    if settings.reasoning_effort is None:
        return {}
    shown = {"summary": "auto"} if settings.show_reasoning else {}
    return {
        "use_responses_api": True,
        "reasoning": {"effort": settings.reasoning_effort, **shown},
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "output_version": "responses/v1",
    }


def _compatible(settings: LLMSettings) -> BaseChatModel:
    from utils.llm.chat_completions import with_plain_streams
    from utils.llm.compatible import CompatibleChatModel

    base_url = address(required(settings.openai_base_url, "OPENAI_BASE_URL", settings), "OPENAI_BASE_URL")
    return with_plain_streams(
        CompatibleChatModel(
            model=model_name(settings),
            api_key=settings.openai_api_key or KEYLESS,
            base_url=base_url,
            use_responses_api=False,
            **_compatible_options(settings, base_url),
        )
    )


def _azure(settings: LLMSettings) -> BaseChatModel:
    from utils.llm.chat_completions import AzureChatModel, with_plain_streams

    endpoint = required(settings.azure_openai_endpoint, "AZURE_OPENAI_ENDPOINT", settings)
    model = model_name(settings)
    return with_plain_streams(
        AzureChatModel(
            model=model,
            azure_deployment=model,
            azure_endpoint=address(endpoint, "AZURE_OPENAI_ENDPOINT"),
            api_key=required(settings.azure_openai_api_key, "AZURE_OPENAI_API_KEY", settings),
            api_version=settings.azure_openai_api_version,
            **_openai_options(settings, endpoint),
            **given(reasoning_effort=settings.reasoning_effort),
        )
    )


def _bedrock(settings: LLMSettings) -> BaseChatModel:
    from botocore.config import Config
    from langchain_aws import ChatBedrockConverse

    from utils.embeddings.aws_keys import aws_keys
    from utils.llm.web_page import refuse_web_pages_of_amazon

    endpoint = address(settings.aws_endpoint_url, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME")
    config = Config(  # the time-out parameter of `ChatBedrockConverse` accepts integers only
        connect_timeout=CONNECT_SECONDS,
        read_timeout=longest_silence(settings),
        retries={"total_max_attempts": 1},  # retries are made, counted and shown by `ModelRecovery` alone
        **({"proxies": {"http": None, "https": None}} if is_loopback(endpoint) else {}),
    )
    if settings.extra_headers is not None:
        raise SettingsError(
            "LLM_EXTRA_HEADERS", "LLM_EXTRA_HEADERS has no effect on Amazon Bedrock: unset it."
        )
    options = given(
        temperature=settings.temperature,
        max_tokens=settings.max_output_tokens,
        endpoint_url=endpoint,
        reasoning_effort=effort_of(settings, _BEDROCK_EFFORTS, "Amazon Bedrock"),
        additional_model_request_fields=extra_body(settings),
    )
    model = ChatBedrockConverse(
        model_id=model_name(settings),
        region_name=_region(settings),
        config=config,
        rate_limiter=request_limiter(settings),
        **aws_keys(settings),
        **options,
    )
    refuse_web_pages_of_amazon(model.client)
    return model


def _anthropic(settings: LLMSettings) -> BaseChatModel:
    optional_module("langchain_anthropic", "langchain-anthropic>=1.7,<2", settings)
    from utils.llm.anthropic_client import anthropic_model

    return anthropic_model(settings)


def _google(settings: LLMSettings) -> BaseChatModel:
    optional_module("langchain_google_genai", "langchain-google-genai>=4,<5", settings)
    from utils.llm.google_client import google_model

    return google_model(settings)


def _region(settings: LLMSettings) -> str:
    """`AWS_REGION`, else what boto finds: `AWS_DEFAULT_REGION` or the profile's region."""
    import boto3
    from botocore.exceptions import InvalidRegionError, ProfileNotFound
    from botocore.utils import validate_region_name

    try:
        region = settings.aws_region or boto3.Session().region_name
        validate_region_name(region)
    except ProfileNotFound as error:
        raise SettingsError("AWS_PROFILE", "AWS_PROFILE names a profile that does not exist.") from error
    except InvalidRegionError as error:
        raise SettingsError("AWS_REGION", "AWS_REGION is not the name of a region.") from error
    return str(required(region, "AWS_REGION", settings))


def _openai_options(settings: LLMSettings, url: str | None) -> dict[str, Any]:
    import openai

    options = given(
        temperature=settings.temperature if takes_temperature(settings) else None,
        max_tokens=settings.max_output_tokens,
        default_headers=extra_headers(settings),
        extra_body=extra_body(settings),
    )
    if is_loopback(url):
        options |= _direct_clients()
    longest = longest_silence(settings)
    return options | {
        "timeout": openai.Timeout(longest, connect=CONNECT_SECONDS),
        "stream_chunk_timeout": longest,
        "rate_limiter": request_limiter(settings),
        "max_retries": 0,  # retries are made, counted and shown by `ModelRecovery` alone
        "stream_usage": True,
    }


def _compatible_options(settings: LLMSettings, url: str | None) -> dict[str, Any]:
    """As for OpenAI, with the output limit under its older name, which more servers support."""
    options = _openai_options(settings, url)
    limit = options.pop("max_tokens", None)
    options |= given(reasoning_effort=settings.reasoning_effort)
    if limit is None:
        return options
    return options | {"extra_body": {"max_tokens": limit} | (options.get("extra_body") or {})}


def _direct_clients() -> dict[str, Any]:
    """HTTP clients without proxies and keep-alive, for a server on this machine; `kept_connections` changes the latter."""
    import httpx
    import openai

    idle = httpx.Limits(max_connections=None, max_keepalive_connections=4, keepalive_expiry=IDLE_SECONDS)
    plain: dict[str, Any] = {"trust_env": False, "headers": {"Connection": "close"}, "limits": idle}
    return {
        "http_client": openai.DefaultHttpxClient(**plain),
        "http_async_client": openai.DefaultAsyncHttpxClient(**plain),
        "openai_proxy": "",
        "http_socket_options": (),  # else it warns that proxies are bypassed, which is intended
    }
