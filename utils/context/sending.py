"""Converts a prepared request for the model: its tools, and the messages in the form of the model's provider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware import ModelRequest
from langchain.agents.structured_output import AutoStrategy, ToolStrategy
from langchain_core.messages import AIMessage, BaseMessage

from utils.context.called_usage import ReportedUsage
from utils.context.pipeline import Prepared
from utils.context.tools import TOOL_NAMES
from utils.context.withdrawn_tools import withdrawn_tools
from utils.llm.offline import MODEL_NAME
from utils.messages.counter import with_count
from utils.messages.notes import as_sent
from utils.messages.transcript import tool_names
from utils.settings import ModelProvider

_WITHOUT_CACHE = (None, ModelProvider.EMBEDDED)

_OPENAI = ("openai", "azure-openai")

_TEXT_STAYS_TEXT = ("openai-chat", "azure-openai-chat")
"""Clients of the chat completions API. Some of its servers accept no blocks, and LangChain's client processes each block of the
conversation for a tenth of a millisecond in every request."""


def sent_request(request: ModelRequest[Any], prepared: Prepared, tools: Sequence[Any]) -> ModelRequest[Any]:
    """The request as it is sent."""
    messages = sent_messages(prepared.messages, getattr(request.model, "_llm_type", ""))
    return request.override(system_message=prepared.system, messages=messages, tools=list(tools))


def known_tools(request: ModelRequest[Any]) -> list[Any]:
    """The tools of a request, and those that its conversation called before, which providers want declared too."""
    own = list(request.tools)
    if getattr(request.model, "_llm_type", "") == MODEL_NAME:  # it looks at no history
        return own
    return [*own, *withdrawn_tools(request.messages, own, _forms(request.response_format))]


def _forms(wanted: Any) -> set[str]:
    """Names of the tools by which a structured answer is given, where it is given so."""
    if isinstance(wanted, AutoStrategy):
        wanted = ToolStrategy(wanted.schema)
    return {spec.name for spec in wanted.schema_specs} if isinstance(wanted, ToolStrategy) else set()


def charged_by(provider: str | None, counted: int, ratio: float) -> int | None:
    """What a provider should charge; `None` without a server that charges."""
    return None if provider == ModelProvider.EMBEDDED else round(counted * ratio)


def measured(message: BaseMessage, counted: int, reported: ReportedUsage) -> BaseMessage:
    """An answer with a plausible usage and the count of its request."""
    if not isinstance(message, AIMessage):
        return message
    return with_count(reported.believed(message), counted)


def sent_messages(messages: Sequence[BaseMessage], llm_type: str) -> list[Any]:
    """The messages as the model gets them.

    Args:
        messages: The messages to send.
        llm_type: LangChain's name of the client, `BaseChatModel._llm_type`.
    """
    own = without_foreign_blocks(messages, llm_type)
    if llm_type == MODEL_NAME:  # it reads the user's words alone, and has a clock
        return own
    return [as_sent(message, as_text=llm_type in _TEXT_STAYS_TEXT) for message in own]


def shown_tools(tools: Sequence[Any], prepared: Prepared, provider: str | None) -> list[Any]:
    """The tools to send. A provider gets all of them in every request: a change empties its prompt cache.

    The offline model gets those of context management only if there is something to read, or a visible call of them.
    """
    used = TOOL_NAMES & set(tool_names(prepared.messages))
    if provider not in _WITHOUT_CACHE or prepared.handles or prepared.compaction.through or used:
        return list(tools)
    return [tool for tool in tools if getattr(tool, "name", "") not in TOOL_NAMES]


def without_foreign_blocks(messages: Sequence[BaseMessage], llm_type: str) -> list[BaseMessage]:
    """The messages without Anthropic's encrypted thoughts, where the client is OpenAI's, which sends them on.

    A conversation has them if another model, such as the fallback, wrote a part of it.

    Args:
        messages: The messages to send.
        llm_type: LangChain's name of the client, `BaseChatModel._llm_type`.
    """
    if not llm_type.startswith(_OPENAI):
        return list(messages)
    return [_plain(message) if _is_foreign(message) else message for message in messages]


def _is_foreign(message: BaseMessage) -> bool:
    return isinstance(message, AIMessage) and any(map(_is_encrypted, message.content))


def _plain(message: BaseMessage) -> BaseMessage:
    return message.model_copy(update={"content": [b for b in message.content if not _is_encrypted(b)] or ""})


def _is_encrypted(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") == "redacted_thinking"
