"""Answers of a provider that break off without an error: a body that just ends looks like one that has ended."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from utils.errors import ModelUnavailable
from utils.llm.reply.answer import BROKEN_OFF
from utils.llm.reply.finish import tells_end


class WholeAnswers(BaseChatModel):
    """A chat model that takes a streamed answer for whole only where the provider has said why it ended, and another as whole JSON only.

    Comes before the client's own class. A proxy or a process that is ended closes the connection in order, also in the middle
    of an answer, so that no HTTP client finds anything wrong with it.
    """

    async def _agenerate(self, *args: Any, **options: Any) -> ChatResult:
        """The answer of the client's own class.

        Raises:
            ModelUnavailable: It broke off.
        """
        try:
            return await super()._agenerate(*args, **options)
        except json.JSONDecodeError as error:
            raise ModelUnavailable(BROKEN_OFF) from error

    async def _astream(self, *args: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        """The chunks of the client's own stream.

        Raises:
            ModelUnavailable: It broke off. One without anything is refused by LangChain.
        """
        told: bool | None = None
        try:
            async for chunk in super()._astream(*args, **options):
                told = told or tells_end({**(chunk.generation_info or {}), **chunk.message.response_metadata})
                yield chunk
        except json.JSONDecodeError as error:
            raise ModelUnavailable(BROKEN_OFF) from error
        if told is False:
            raise ModelUnavailable(BROKEN_OFF)
