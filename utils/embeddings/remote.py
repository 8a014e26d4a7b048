"""Embeddings of a remote provider, through LangChain's client for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import finalize

import numpy as np
import structlog

from utils.embeddings import own_loop
from utils.embeddings.embedder import Embedder
from utils.embeddings.remote_errors import as_platform_error
from utils.embeddings.vectors import normalised
from utils.errors import InvalidRequest, ModelFailure, ModelSlow, SettingsError
from utils.library_internals import client_of_embeddings, http_client_of
from utils.net.bounded import MIB, Bound
from utils.net.web_client import disable_cookies, is_cross_origin
from utils.settings import EmbeddingSettings, EmbeddingsProvider
from utils.timing import backoff

if TYPE_CHECKING:
    from langchain_openai import OpenAIEmbeddings
    from numpy.typing import NDArray

CROSS_ORIGIN_REDIRECT = (
    "The embedding server redirects to another host. The redirect was not followed, because your key and the texts would go there. "
    "If that host is right, set it as the server's address."
)
BATCH = 256
"""Texts per request: providers accept up to 2,048 (OpenAI, Azure); passages of 256 tokens stay under their token limit."""
LARGEST_ANSWER = 64 * MIB
"""Bytes of one answer: 256 vectors of 8,192 numbers, each written with 22 characters, come to 44 MiB."""
TRIES = 3
"""Tries at a busy server. The providers' own clients make three, too."""
FIRST_PAUSE = 0.5
"""Longest seconds before the second try."""
SILENT = "The embedding server did not answer within {seconds:g} seconds. A slow one gets more time with EMBEDDINGS_TIMEOUT_SECONDS."
OPENAI_MODEL = "text-embedding-3-small"
BEDROCK_MODEL = "amazon.titan-embed-text-v2:0"

Value = TypeVar("Value")

log = structlog.get_logger(__name__)

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


class Client(Protocol):
    """What is used of LangChain's clients."""

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vectors of texts, in their order."""
        ...


class RemoteEmbedder:
    """An `Embedder` over a LangChain client, which is asked on the loop of `own_loop` alone. Safe to use from threads and loops.

    Args:
        provider: The provider.
        model: The model.
        address: Where it is, so that vectors of two servers are never compared.
        client: The client. It makes no retries of its own.
        seconds: Longest time of one request with its retries.
        batch: Most texts of one request.
        close: Ends the client's connections once nobody uses the embedder any more.
    """

    def __init__(
        self,
        provider: EmbeddingsProvider,
        model: str,
        address: str,
        client: Client,
        *,
        seconds: float,
        batch: int = BATCH,
        close: Callable[[], Coroutine[Any, Any, object]] | None = None,
    ) -> None:
        self.name = "/".join(part for part in (provider.value, address, model) if part)
        self._known = DIMENSIONS.get(model)
        self._client = client
        self._seconds = seconds
        self._batch = batch
        if close:
            finalize(self, own_loop.begin, close).atexit = False

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector. For a model that is not in the table this asks the provider once."""
        return self._known or int(self.embed_sync(["dimensions"]).shape[1])

    def embed_sync(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed_sync`."""
        return own_loop.run_sync(self._vectors(texts))

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`."""
        return await own_loop.run(self._vectors(texts))

    async def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts and self._known:
            return np.zeros((0, self._known), dtype=np.float32)
        rows: list[list[float]] = []
        asked = [text or " " for text in texts] or ["dimensions"]
        for start in range(0, len(asked), self._batch):
            rows.extend(await self._in_time(asked[start : start + self._batch]))
        return normalised(np.asarray(rows, dtype=np.float32))[: len(texts)]

    async def _in_time(self, texts: list[str]) -> list[list[float]]:
        limit = asyncio.timeout(self._seconds)
        try:
            async with limit:
                return await self._patiently(texts)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise ModelSlow(SILENT.format(seconds=self._seconds)) from error

    async def _patiently(self, texts: list[str]) -> list[list[float]]:
        for attempt in range(1, TRIES):
            try:
                return await self._ask(texts)
            except ModelFailure as failure:
                if not failure.retryable:
                    raise
                log.info("embeddings.retried", code=failure.code)
                await asyncio.sleep(backoff(attempt, first=FIRST_PAUSE))
        return await self._ask(texts)

    async def _ask(self, texts: list[str]) -> list[list[float]]:
        try:
            rows = await self._client.aembed_documents(texts)
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
        **_OWN_LIMITS,
    )
    return _guarded(settings, model, settings.openai_base_url or "", client)


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
    client = OpenAIEmbeddings(model=model, openai_api_key=key, openai_api_base=url, **_OWN_LIMITS)
    return _guarded(settings, model, url, client)


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
        **_OWN_LIMITS,
    )
    return _guarded(settings, deployment, endpoint, client)


def _bedrock(settings: EmbeddingSettings) -> Embedder:
    from utils.embeddings import bedrock

    region = _needed(settings.aws_region, "AWS_REGION", "the provider aws-bedrock")
    model = settings.model or BEDROCK_MODEL
    client = bedrock.client(settings, model, region, LARGEST_ANSWER)
    return RemoteEmbedder(
        settings.provider, model, region, client, seconds=settings.timeout_seconds, batch=bedrock.BATCH
    )


_OWN_LIMITS: dict[str, Any] = {
    "check_embedding_ctx_length": False,
    "timeout": None,  # `RemoteEmbedder` limits the whole request
    "max_retries": 0,  # and makes its retries
}
_BUILDERS: dict[EmbeddingsProvider, Callable[[EmbeddingSettings], Embedder]] = {
    EmbeddingsProvider.OPENAI: _openai,
    EmbeddingsProvider.OPENAI_COMPATIBLE: _compatible,
    EmbeddingsProvider.AZURE_OPENAI: _azure,
    EmbeddingsProvider.AWS_BEDROCK: _bedrock,
}


def _guarded(settings: EmbeddingSettings, model: str, address: str, client: OpenAIEmbeddings) -> Embedder:
    """An embedder whose client bounds the answer, keeps no cookie, and follows redirects within an origin alone."""
    http = http_client_of(client_of_embeddings(client))
    disable_cookies(http.cookies.jar)
    for kind, hooks in Bound(LARGEST_ANSWER).hooks(response=[_stay]).items():
        http.event_hooks[kind].extend(hooks)
    seconds = settings.timeout_seconds
    return RemoteEmbedder(settings.provider, model, address, client, seconds=seconds, close=http.aclose)


async def _stay(response: Any) -> None:
    if response.has_redirect_location and is_cross_origin(
        str(response.request.url), response.headers["location"]
    ):
        raise InvalidRequest(CROSS_ORIGIN_REDIRECT)


def _needed(value: Value | None, variable: str, user: str) -> Value:
    if value is None:
        raise SettingsError(variable, f"Set {variable}: {user} of EMBEDDINGS_PROVIDER needs it.")
    return value
