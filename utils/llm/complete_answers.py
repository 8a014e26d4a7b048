"""Detects answers of a provider that break off without an error, since a truncated body looks like a complete one, and those that cannot be read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from pydantic import ValidationError

from utils.errors import ModelUnavailable
from utils.llm.reply.answer import BROKEN_OFF
from utils.llm.reply.finish import reports_end

UNREADABLE = (
    "The model server's answer cannot be read. Check the model's address and any gateway or proxy in between: the server may be "
    "faulty, or may not be a model server."
)


class CompleteAnswers(BaseChatModel):
    """A chat model that accepts a streamed answer only with a finish reason, and any other answer only as complete JSON.

    Precedes the client's own class. A proxy or a terminated process closes the connection properly, even in the middle of an
    answer, so no HTTP client detects an error.
    """

    async def _agenerate(self, *args: Any, **options: Any) -> ChatResult:
        """The answer of the client's own class.

        Raises:
            ModelUnavailable: It broke off, or cannot be read.
        """
        with _read():
            return await super()._agenerate(*args, **options)

    async def _astream(self, *args: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        """The chunks of the client's own stream.

        Raises:
            ModelUnavailable: The answer broke off, or cannot be read. LangChain refuses one without any chunk.
        """
        ended: bool | None = None
        with _read():
            async for chunk in super()._astream(*args, **options):
                ended = ended or reports_end(
                    {**(chunk.generation_info or {}), **chunk.message.response_metadata}
                )
                yield chunk
        if ended is False:
            raise ModelUnavailable(BROKEN_OFF)


@contextmanager
def _read() -> Iterator[None]:
    """Name what was wrong with the bytes and values of an answer; the clients pass these errors on as they come.

    Raises:
        ModelUnavailable: The answer broke off, is not UTF-8, is nested too deeply, or has values of a wrong type.
    """
    try:
        yield
    except json.JSONDecodeError as error:
        raise ModelUnavailable(BROKEN_OFF) from error
    except (UnicodeDecodeError, RecursionError, ValidationError) as error:
        raise ModelUnavailable(UNREADABLE) from error
