"""Streamed requests to OpenAI's chat completions, without the client's conversions to its own types.

For an answer that has to conform to a schema, LangChain uses a streaming helper of the client that raises an error of its own if the
answer is cut off or filtered. It gets the plain stream instead, whose end is handled like any other. In both a refusal becomes text.

The client transforms each request by its type annotations, which changes nothing in a request that LangChain has built, and makes an
object of each chunk, which LangChain converts back to a dictionary: together a sixth of the processor time of a turn.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self, TypeVar

import openai
import structlog
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from langchain_openai.chat_models.base import BaseChatOpenAI

from utils.library_internals import set_beta_completions
from utils.llm.complete_answers import CompleteAnswers
from utils.llm.provider_client import guard_client
from utils.llm.reply.refusal import with_refusal_text

log = structlog.get_logger(__name__)

Model = TypeVar("Model", bound=BaseChatOpenAI)

_OPTIONS = {
    "extra_headers": "headers",
    "extra_query": "params",
    "extra_body": "extra_json",
    "timeout": "timeout",
}
"""Arguments of the client that are not part of the request's body, and their names in the options of its `post`."""


class OpenAIChatModel(CompleteAnswers, ChatOpenAI):
    """`ChatOpenAI` that detects answers that broke off."""


class AzureChatModel(CompleteAnswers, AzureChatOpenAI):
    """`AzureChatOpenAI` that detects answers that broke off."""


class ChatCompletions:
    """The chat completions of a client. Streamed chunks are dictionaries; other results are the client's own types."""

    def __init__(self, client: openai.AsyncOpenAI) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client.chat.completions, name)

    async def create(self, **arguments: Any) -> Any:
        """Request a completion, with the arguments of the client's own `create`.

        Raises:
            openai.OpenAIError: As the client's own method.
        """
        if not arguments.get("stream"):
            return await self._client.chat.completions.create(**arguments)
        chunks = await self._client.post(
            "/chat/completions",
            cast_to=object,
            body={name: value for name, value in arguments.items() if name not in _OPTIONS},
            options=_options(arguments),
            stream=True,
            stream_cls=DoneTrackingStream,
        )
        return NormalisedStream(chunks)

    @asynccontextmanager
    async def stream(self, **arguments: Any) -> AsyncIterator[Any]:
        """Stream a completion, with the arguments of the client's own `stream`; for a JSON schema, as the plain stream.

        Raises:
            openai.OpenAIError: As the client's own method.
        """
        if isinstance(arguments.get("response_format"), Mapping):
            opened: Any = await self.create(stream=True, **arguments)
        else:
            opened = self._client.chat.completions.stream(**arguments)
        async with opened as chunks:
            yield chunks


class DoneTrackingStream(openai.AsyncStream[object]):
    """The client's stream, which hides whether it ended with `[DONE]`.

    Attributes:
        done: Whether `[DONE]` was received.
    """

    done = False

    async def _iter_events(self) -> AsyncIterator[Any]:
        async for event in super()._iter_events():
            self.done = self.done or event.data.startswith("[DONE]")
            yield event


class NormalisedStream:
    """The chunks of a stream, with a refusal as text, and a finish reason added if `[DONE]` came without one."""

    def __init__(self, chunks: DoneTrackingStream) -> None:
        self._chunks = chunks

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._chunks.close()

    async def __aiter__(self) -> AsyncIterator[Any]:
        """Each chunk."""
        refused, reasoned = False, None
        async for chunk in self._chunks:
            if isinstance(chunk, dict):
                reasoned = reasoned or _has_reason(chunk)
                chunk, refused = with_refusal_text(chunk, refused=refused)  # noqa: PLW2901 - most are not changed
            yield chunk
        if self._chunks.done and reasoned is False:  # some servers send no finish reason
            log.info("model.no_finish_reason")
            yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def with_plain_streams(model: Model) -> Model:
    """Make a model stream chat completions through `ChatCompletions`, on a guarded client."""
    guard_client(model.root_async_client)
    model.async_client = plain = ChatCompletions(model.root_async_client)
    set_beta_completions(model.root_async_client, plain)
    return model


def _has_reason(chunk: Mapping[str, Any]) -> bool:
    choices = chunk.get("choices")
    return isinstance(choices, list) and any(
        isinstance(choice, dict) and choice.get("finish_reason") for choice in choices
    )


def _options(arguments: Mapping[str, Any]) -> Any:
    return {option: arguments[name] for name, option in _OPTIONS.items() if arguments.get(name) is not None}
