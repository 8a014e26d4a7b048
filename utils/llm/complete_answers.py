"""Detects answers of a provider that break off without an error: a truncated body looks like a complete one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from utils.errors import ModelUnavailable
from utils.llm.reply.answer import BROKEN_OFF
from utils.llm.reply.finish import reports_end


class CompleteAnswers(BaseChatModel):
    """A chat model that accepts a streamed answer only with a finish reason, and any other answer only as complete JSON.

    Precedes the client's own class. A proxy or a terminated process closes the connection properly, even in the middle of an
    answer, so no HTTP client detects an error.
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
            ModelUnavailable: The answer broke off. LangChain refuses one without any chunk.
        """
        ended: bool | None = None
        try:
            async for chunk in super()._astream(*args, **options):
                ended = ended or reports_end(
                    {**(chunk.generation_info or {}), **chunk.message.response_metadata}
                )
                yield chunk
        except json.JSONDecodeError as error:
            raise ModelUnavailable(BROKEN_OFF) from error
        if ended is False:
            raise ModelUnavailable(BROKEN_OFF)
