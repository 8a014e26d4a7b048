"""Embeddings of a remote provider, through LangChain's client for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from utils.embeddings.embedder import Embedder
from utils.embeddings.remote_errors import as_platform_error
from utils.embeddings.vectors import normalised
from utils.errors import InvalidRequest, SettingsError
from utils.net.web_client import forget_cookies, leads_away
from utils.settings import EmbeddingSettings, EmbeddingsProvider

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_openai import OpenAIEmbeddings
    from numpy.typing import NDArray

LED_AWAY = (
    "The embedding server redirects to another host. The redirect was not followed, because your key and the texts would go there. "
    "If that host is right, set it as the server's address."
)
BATCH = 256
"""Texts per request: providers accept up to 2,048 (OpenAI, Azure); passages of 256 tokens stay under their token limit."""
OPENAI_MODEL = "text-embedding-3-small"
BEDROCK_MODEL = "amazon.titan-embed-text-v2:0"
Value = TypeVar("Value")
DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "amazon.titan-embed-text-v1": 1536,
    "amazon.titan-embed-text-v2:0": 1024,
    "cohere.embed-english-v3": 1024,
    "cohere.embed-multilingual-v3": 1024,
}
"""Vector lengths as the providers document them. Other models are asked once."""


class RemoteEmbedder:
    """An `Embedder` over a LangChain client, which is safe to call from threads."""

    def __init__(self, provider: EmbeddingsProvider, model: str, address: str, client: Embeddings) -> None:
        self.name = "/".join(part for part in (provider.value, address, model) if part)
        self._model = model
        self._client = client

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector. For a model that is not in the table this asks the provider once."""
        known = DIMENSIONS.get(self._model)
        return known or int(self.embed_sync(["dimensions"]).shape[1])

    def embed_sync(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed_sync`."""
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        rows: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            rows.extend(self._ask([text or " " for text in texts[start : start + BATCH]]))
        return normalised(np.asarray(rows, dtype=np.float32))

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`."""
        return await asyncio.to_thread(self.embed_sync, texts)

    def _ask(self, texts: list[str]) -> list[list[float]]:
        try:
            rows = self._client.embed_documents(texts)
        except Exception as error:
            known = as_platform_error(error)
            if known is None:
                raise
            raise known from error
        if len(rows) != len(texts):
            raise InvalidRequest("The embedding server answered with another number of vectors than texts.")
        return rows


def create_remote(settings: EmbeddingSettings) -> Embedder:
    """The embedder of a remote provider.

    Raises:
        SettingsError: A setting that the provider needs is missing. Names the variable.
    """
    return _BUILDERS[settings.provider](settings)


def _openai(settings: EmbeddingSettings) -> Embedder:
    from langchain_openai import OpenAIEmbeddings

    key = _needed(settings.openai_api_key, "OPENAI_API_KEY", "the provider openai")
    model = settings.model or OPENAI_MODEL
    client = OpenAIEmbeddings(
        model=model,
        openai_api_key=key,
        openai_api_base=settings.openai_base_url,
        check_embedding_ctx_length=False,
    )
    return RemoteEmbedder(settings.provider, model, settings.openai_base_url or "", _guarded(client))


def _compatible(settings: EmbeddingSettings) -> Embedder:
    from langchain_openai import OpenAIEmbeddings
    from pydantic import SecretStr

    user = "the provider openai-compatible"
    url = _needed(settings.base_url or settings.openai_base_url, "EMBEDDINGS_BASE_URL", user)
    if not url.startswith(("http://", "https://")):
        raise SettingsError("EMBEDDINGS_BASE_URL", "EMBEDDINGS_BASE_URL must begin with http:// or https://.")
    model = _needed(settings.model, "EMBEDDINGS_MODEL", user)
    key = settings.openai_api_key or SecretStr(
        "none"
    )  # such servers often ask for no key; the client insists
    client = OpenAIEmbeddings(
        model=model, openai_api_key=key, openai_api_base=url, check_embedding_ctx_length=False
    )
    return RemoteEmbedder(settings.provider, model, url, _guarded(client))


def _azure(settings: EmbeddingSettings) -> Embedder:
    from langchain_openai import AzureOpenAIEmbeddings

    user = "the provider azure-openai"
    endpoint = _needed(settings.azure_openai_endpoint, "AZURE_OPENAI_ENDPOINT", user)
    deployment = _needed(settings.model, "EMBEDDINGS_MODEL", user)
    client = AzureOpenAIEmbeddings(
        deployment=deployment,
        azure_endpoint=endpoint,
        openai_api_key=_needed(settings.azure_openai_api_key, "AZURE_OPENAI_API_KEY", user),
        openai_api_version=settings.azure_openai_api_version,
        check_embedding_ctx_length=False,
    )
    return RemoteEmbedder(settings.provider, deployment, endpoint, _guarded(client))


def _bedrock(settings: EmbeddingSettings) -> Embedder:
    from langchain_aws import BedrockEmbeddings

    from utils.embeddings.aws_keys import aws_keys

    region = _needed(settings.aws_region, "AWS_REGION", "the provider aws-bedrock")
    model, keys = settings.model or BEDROCK_MODEL, aws_keys(settings)
    try:
        client = BedrockEmbeddings(
            model_id=model,
            region_name=region,
            endpoint_url=settings.aws_endpoint_url,
            normalize=False,
            **keys,
        )
    except ValueError as error:
        raise SettingsError("AWS_REGION", "The client of Amazon Bedrock could not be made.") from error
    return RemoteEmbedder(settings.provider, model, region, client)


_BUILDERS: dict[EmbeddingsProvider, Callable[[EmbeddingSettings], Embedder]] = {
    EmbeddingsProvider.OPENAI: _openai,
    EmbeddingsProvider.OPENAI_COMPATIBLE: _compatible,
    EmbeddingsProvider.AZURE_OPENAI: _azure,
    EmbeddingsProvider.AWS_BEDROCK: _bedrock,
}


def _guarded(embeddings: OpenAIEmbeddings) -> OpenAIEmbeddings:
    """Embeddings whose client keeps no cookie, and follows redirects within an origin alone."""
    http = embeddings.client._client._client  # noqa: SLF001 - the clients show their HTTP client in no other way
    forget_cookies(http.cookies.jar)
    http.event_hooks["response"].append(_stay)
    return embeddings


def _stay(response: Any) -> None:
    if response.has_redirect_location and leads_away(str(response.request.url), response.headers["location"]):
        raise InvalidRequest(LED_AWAY)


def _needed(value: Value | None, variable: str, user: str) -> Value:
    if value is None:
        raise SettingsError(variable, f"Set {variable}: {user} of EMBEDDINGS_PROVIDER needs it.")
    return value
