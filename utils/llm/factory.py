"""Creates the chat model of the settings. Only this file knows the providers' classes.

It uses no network: a wrong or missing setting is a `SettingsError` at start, while a wrong key or model name,
which only the provider can recognise, fails at the first call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, assert_never

from pydantic import SecretStr, ValidationError

from utils.errors import SettingsError
from utils.net.loopback import is_loopback
from utils.setting_values import http_address
from utils.settings import LLMSettings, ModelProvider, RecoverySettings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from utils.embeddings import Embedder

T = TypeVar("T")

CONNECT_SECONDS = 10.0
"""Connect timeout; a provider that takes longer counts as down."""

KEYLESS = SecretStr("none")
"""Sent to OpenAI-compatible servers when no key is set: the client requires one, these servers do not."""


def create_chat_model(
    settings: LLMSettings, *, embedder_factory: Callable[[], Embedder | None] | None = None
) -> BaseChatModel:
    """The chat model of these settings.

    Args:
        settings: Provider, model, credentials and limits.
        embedder_factory: Gives the embedded model its embeddings; called for that provider only.

    Raises:
        SettingsError: A setting is missing or wrong; names the variable.
    """
    try:
        return _made(settings, embedder_factory)
    except ValidationError as error:  # the client's own check of a model name or an address
        raise SettingsError(
            "LLM_MODEL",
            f"The {settings.provider} client does not accept these settings: check LLM_MODEL.",
        ) from error


def fallback_of(llm: LLMSettings, recovery: RecoverySettings) -> LLMSettings | None:
    """The settings of the fallback model, or `None`."""
    if recovery.fallback_model is None:
        return None
    changed = {"model": recovery.fallback_model, "provider": recovery.fallback_provider or llm.provider}
    return llm.model_copy(update=changed)


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
        case _:
            assert_never(settings.provider)


def _embedded(embedder_factory: Callable[[], Embedder | None] | None) -> BaseChatModel:
    from utils.llm.embedded import EmbeddedChatModel

    return EmbeddedChatModel(embedder=embedder_factory() if embedder_factory else None)


def _openai(settings: LLMSettings) -> BaseChatModel:
    from langchain_openai import ChatOpenAI

    key = _required(settings.openai_api_key, "OPENAI_API_KEY", settings)
    base_url = _address(settings.openai_base_url, "OPENAI_BASE_URL")
    return ChatOpenAI(
        model=_model(settings),
        api_key=key,
        base_url=base_url,
        **_openai_options(settings, base_url),
    )


def _compatible(settings: LLMSettings) -> BaseChatModel:
    from langchain_openai import ChatOpenAI

    base_url = _address(_required(settings.openai_base_url, "OPENAI_BASE_URL", settings), "OPENAI_BASE_URL")
    return ChatOpenAI(
        model=_model(settings),
        api_key=settings.openai_api_key or KEYLESS,
        base_url=base_url,
        use_responses_api=False,
        **_compatible_options(settings, base_url),
    )


def _azure(settings: LLMSettings) -> BaseChatModel:
    from langchain_openai import AzureChatOpenAI

    endpoint = _required(settings.azure_openai_endpoint, "AZURE_OPENAI_ENDPOINT", settings)
    model = _model(settings)
    return AzureChatOpenAI(
        model=model,
        azure_deployment=model,
        azure_endpoint=_address(endpoint, "AZURE_OPENAI_ENDPOINT"),
        api_key=_required(settings.azure_openai_api_key, "AZURE_OPENAI_API_KEY", settings),
        api_version=settings.azure_openai_api_version,
        **_openai_options(settings, endpoint),
    )


def _bedrock(settings: LLMSettings) -> BaseChatModel:
    from botocore.config import Config
    from langchain_aws import ChatBedrockConverse

    from utils.embeddings.aws_keys import aws_keys

    endpoint = _address(settings.aws_endpoint_url, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME")
    config = Config(  # the client's own time-out takes whole seconds only
        connect_timeout=min(settings.timeout_seconds, CONNECT_SECONDS),
        read_timeout=settings.timeout_seconds,
        retries={"max_attempts": settings.max_retries},
        **({"proxies": {"http": None, "https": None}} if is_loopback(endpoint) else {}),
    )
    options = _given(
        temperature=settings.temperature, max_tokens=settings.max_output_tokens, endpoint_url=endpoint
    )
    return ChatBedrockConverse(
        model_id=_model(settings),
        region_name=_region(settings),
        config=config,
        **aws_keys(settings),
        **options,
    )


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
    return str(_required(region, "AWS_REGION", settings))


def _openai_options(settings: LLMSettings, address: str | None) -> dict[str, Any]:
    options = _given(temperature=settings.temperature, max_tokens=settings.max_output_tokens)
    if is_loopback(address):
        options |= _direct_clients()
    return options | {
        "timeout": settings.timeout_seconds,
        "max_retries": settings.max_retries,
        "stream_usage": True,
    }


def _compatible_options(settings: LLMSettings, address: str | None) -> dict[str, Any]:
    """As for OpenAI, with the output limit under its older name, which more servers support."""
    options = _openai_options(settings, address)
    limit = options.pop("max_tokens", None)
    return options if limit is None else options | {"extra_body": {"max_tokens": limit}}


def _direct_clients() -> dict[str, Any]:
    """HTTP clients without proxies and keep-alive, for a server on this machine."""
    import openai

    plain: dict[str, Any] = {"trust_env": False, "headers": {"Connection": "close"}}
    return {
        "http_client": openai.DefaultHttpxClient(**plain),
        "http_async_client": openai.DefaultAsyncHttpxClient(**plain),
        "openai_proxy": "",
    }


def _model(settings: LLMSettings) -> str:
    return _required(settings.model, "LLM_MODEL", settings)


def _required(value: T | None, variable: str, settings: LLMSettings) -> T:
    if value is None:
        raise SettingsError(variable, f"Set {variable}: LLM_PROVIDER={settings.provider} needs it.")
    return value


def _address(url: str | None, variable: str) -> str | None:
    try:
        return http_address(url)
    except ValueError:
        raise SettingsError(
            variable, f"{variable} must be an address that starts with http:// or https://."
        ) from None


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
