"""Streamed requests to OpenAI's chat completions without what its client does for types that nobody here reads.

Where an answer has to fill a schema, LangChain streams it through a helper of the client that raises an error of its own when the
answer is cut off or filtered; it gets the plain stream instead, whose end is read like every other. A refusal is text in both.

The client rewrites each request by the annotations of its types, which changes nothing in a request that LangChain has built,
and makes objects of each chunk, which LangChain turns into dictionaries again: together a sixth of the processor time of a turn.
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
from utils.llm.provider_client import guard_client
from utils.llm.reply.refusal import spoken_chunk
from utils.llm.whole_answers import WholeAnswers

log = structlog.get_logger(__name__)

Model = TypeVar("Model", bound=BaseChatOpenAI)

_OPTIONS = {
    "extra_headers": "headers",
    "extra_query": "params",
    "extra_body": "extra_json",
    "timeout": "timeout",
}
"""Arguments of the client that are no part of the request's body, and their names in the options of its `post`."""


class OpenAIChatModel(WholeAnswers, ChatOpenAI):
    """`ChatOpenAI` that takes no answer for whole that broke off."""


class AzureChatModel(WholeAnswers, AzureChatOpenAI):
    """`AzureChatOpenAI` that takes no answer for whole that broke off."""


class ChatCompletions:
    """The chat completions of a client. Streamed ones come as dictionaries, all others as the client makes them."""

    def __init__(self, client: openai.AsyncOpenAI) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client.chat.completions, name)

    async def create(self, **asked: Any) -> Any:
        """Ask for a completion, with the arguments of the client's own `create`.

        Raises:
            openai.OpenAIError: As the client's own.
        """
        if not asked.get("stream"):
            return await self._client.chat.completions.create(**asked)
        chunks = await self._client.post(
            "/chat/completions",
            cast_to=object,
            body={name: value for name, value in asked.items() if name not in _OPTIONS},
            options=_options(asked),
            stream=True,
            stream_cls=EndedStream,
        )
        return SpokenStream(chunks)

    @asynccontextmanager
    async def stream(self, **asked: Any) -> AsyncIterator[Any]:
        """Stream a completion, with the arguments of the client's own `stream`; one for a schema as JSON comes as it is.

        Raises:
            openai.OpenAIError: As the client's own.
        """
        if isinstance(asked.get("response_format"), Mapping):
            opened: Any = await self.create(stream=True, **asked)
        else:
            opened = self._client.chat.completions.stream(**asked)
        async with opened as chunks:
            yield chunks


class EndedStream(openai.AsyncStream[object]):
    """The client's stream, which takes `[DONE]` away and ends the same way without it.

    Attributes:
        done: Whether `[DONE]` came.
    """

    done = False

    async def _iter_events(self) -> AsyncIterator[Any]:
        async for event in super()._iter_events():
            self.done = self.done or event.data.startswith("[DONE]")
            yield event


class SpokenStream:
    """The chunks of a stream, a refusal in its own field as text, the finish reason added where `[DONE]` came without one."""

    def __init__(self, chunks: EndedStream) -> None:
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
                chunk, refused = spoken_chunk(chunk, refused=refused)  # noqa: PLW2901 - most stay what they are
            yield chunk
        if self._chunks.done and reasoned is False:  # as servers do that know no finish reason
            log.info("model.no_finish_reason")
            yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def with_plain_streams(model: Model) -> Model:
    """The model, which streams chat completions through `ChatCompletions`, on a guarded client."""
    guard_client(model.root_async_client)
    model.async_client = plain = ChatCompletions(model.root_async_client)
    set_beta_completions(model.root_async_client, plain)
    return model


def _has_reason(chunk: Mapping[str, Any]) -> bool:
    choices = chunk.get("choices")
    return isinstance(choices, list) and any(
        isinstance(choice, dict) and choice.get("finish_reason") for choice in choices
    )


def _options(asked: Mapping[str, Any]) -> Any:
    return {option: asked[name] for name, option in _OPTIONS.items() if asked.get(name) is not None}
