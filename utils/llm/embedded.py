"""The offline chat model, without a key or a download: routes requests to tools and quotes their results.

It is deterministic and not a language model: from the messages alone it decides which bound tool a
request belongs to (by embeddings of the tool's examples), extracts the arguments from the text, and
answers with extracts, tables and fields of the results. If it cannot do something, it says so.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import ConfigDict, Field

from utils.embeddings import Embedder
from utils.llm.offline import MODEL_NAME
from utils.llm.offline.reply import Reply, pieces, reply
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.tools import payload, specs
from utils.messages.marks import ASKS_USER
from utils.messages.text import message_text

OFFLINE_NOTICE = (
    "This answer comes from the offline model, which routes requests and quotes what the tools return; it writes no text "
    "of its own. For a language model, set LLM_PROVIDER, LLM_MODEL and the provider's key in .env: "
    "docs/offline-model.md#use-a-language-model"
)
CHARACTERS_PER_TOKEN = 4
"""English text has about four characters to a token; the model has no tokens of its own to count."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class EmbeddedChatModel(BaseChatModel):
    """A `BaseChatModel` with tool calls, streaming and usage. Keeps no state between calls.

    Attributes:
        embedder: Compares texts by meaning; `None` compares their words.
        now: The clock that "since last week" counts from.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    embedder: Any = Field(default=None, exclude=True)
    now: Callable[[], datetime] = Field(default=_utc_now, exclude=True)

    def __init__(self, embedder: Embedder | None = None, **more: Any) -> None:
        super().__init__(embedder=embedder, **more)

    @property
    def _llm_type(self) -> str:
        return MODEL_NAME

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": MODEL_NAME, "embedder": getattr(self.embedder, "name", None)}

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools. Requests are routed by their `metadata["examples"]`."""
        return self.bind(tools=[payload(tool) for tool in tools], tool_choice=tool_choice, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - LangChain's signature
        **kwargs: Any,
    ) -> ChatResult:
        decided = self._decide(messages, kwargs)
        return ChatResult(generations=[ChatGeneration(message=_message(decided, messages))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - LangChain's signature
        **kwargs: Any,
    ) -> ChatResult:
        decided = await asyncio.to_thread(self._decide, messages, kwargs)
        return ChatResult(generations=[ChatGeneration(message=_message(decided, messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _chunks(self._decide(messages, kwargs), messages):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        decided = await asyncio.to_thread(self._decide, messages, kwargs)
        for chunk in _chunks(decided, messages):
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _decide(self, messages: Sequence[BaseMessage], kwargs: dict[str, Any]) -> Reply:
        tools = [] if kwargs.get("tool_choice") == "none" else specs(kwargs.get("tools") or ())
        return reply(messages, tools, Similarity(self.embedder), self.now())


def _message(decided: Reply, messages: Sequence[BaseMessage]) -> AIMessage:
    return AIMessage(
        content=decided.text,
        tool_calls=[
            {"name": c.name, "args": dict(c.arguments), "id": c.id, "type": "tool_call"}
            for c in decided.calls
        ],
        usage_metadata=_usage(decided, messages),
        response_metadata=_metadata(decided),
    )


def _chunks(decided: Reply, messages: Sequence[BaseMessage]) -> Iterator[ChatGenerationChunk]:
    for piece in [decided.text] if decided.asks else pieces(decided.text):
        marks = ASKS_USER.entry(True) if decided.asks else {}
        yield _chunk(AIMessageChunk(content=piece, response_metadata=marks))
    for index, call in enumerate(decided.calls):
        arguments = json.dumps(call.arguments, ensure_ascii=False, default=str)
        part = tool_call_chunk(name=call.name, args=arguments, id=call.id, index=index)
        yield _chunk(AIMessageChunk(content="", tool_call_chunks=[part]))
    last = AIMessageChunk(
        content="",
        usage_metadata=_usage(decided, messages),
        response_metadata=_metadata(decided, streamed=True),
        chunk_position="last",
    )
    yield _chunk(last)


def _chunk(message: AIMessageChunk) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=message)


def _metadata(decided: Reply, *, streamed: bool = False) -> dict[str, Any]:
    """Metadata of an answer. In a stream, the chunk with the text of a question has been marked already."""
    finish = "tool_calls" if decided.calls else "stop"
    marks = ASKS_USER.entry(True) if decided.asks and not streamed else {}
    return {"model_name": MODEL_NAME, "finish_reason": finish, **marks}


def _usage(decided: Reply, messages: Sequence[BaseMessage]) -> UsageMetadata:
    """An estimate from the length of the texts: nothing is billed here, but budgets and reports need a number."""
    read = sum(len(message_text(message)) for message in messages)
    written = len(decided.text) + sum(len(call.name) + len(str(call.arguments)) for call in decided.calls)
    spent = [-(-characters // CHARACTERS_PER_TOKEN) for characters in (read, written)]
    return UsageMetadata(input_tokens=spent[0], output_tokens=spent[1], total_tokens=sum(spent))
