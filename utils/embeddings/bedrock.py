"""The client of Amazon Bedrock's embedding models. AWS' own library blocks, so each request has a thread of its own."""

from __future__ import annotations

from typing import Any

from botocore.config import Config
from langchain_aws import BedrockEmbeddings

from utils.embeddings.aws_keys import aws_keys
from utils.embeddings.own_loop import in_own_thread
from utils.errors import SettingsError
from utils.net.bounded import AnswerTooLarge
from utils.settings import EmbeddingSettings

BATCH = 16
"""Texts per request of ours, which Titan gets one by one: about a second."""


class Bedrock(BedrockEmbeddings):
    """`BedrockEmbeddings` whose calls hold no thread of a pool."""

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vectors of texts, in their order."""
        return await in_own_thread(lambda: self.embed_documents(texts))


def client(settings: EmbeddingSettings, model: str, region: str, largest: int) -> Bedrock:
    """The client of a model.

    Args:
        settings: Keys, address and time limit.
        model: Its id.
        region: Where it runs.
        largest: Most bytes of one answer.

    Raises:
        SettingsError: A setting is missing or wrong.
    """
    config = Config(
        connect_timeout=settings.timeout_seconds,
        read_timeout=settings.timeout_seconds,
        retries={"total_max_attempts": 1},  # `RemoteEmbedder` makes the retries
    )
    keys = aws_keys(settings)
    try:
        made = Bedrock(
            model_id=model,
            region_name=region,
            endpoint_url=settings.aws_endpoint_url,
            normalize=False,
            config=config,
            **keys,
        )
    except ValueError as error:
        raise SettingsError("AWS_REGION", "The client of Amazon Bedrock could not be made.") from error

    def bound(parsed: dict[str, Any], **_: Any) -> None:
        parsed["body"] = _Bounded(parsed["body"], largest)

    made.client.meta.events.register("after-call.bedrock-runtime.InvokeModel", bound)
    return made


class _Bounded:
    """The body of an answer, read up to a size."""

    def __init__(self, inner: Any, most: int) -> None:
        self._inner, self._most = inner, most

    def read(self) -> bytes:
        """All of it.

        Raises:
            AnswerTooLarge: There is more.
        """
        body: bytes = self._inner.read(self._most + 1)
        if len(body) > self._most:
            self._inner.close()
            raise AnswerTooLarge("an answer", self._most)
        return body
