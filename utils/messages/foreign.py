"""Removes blocks that only another provider's client understands. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

_OPENAI = ("openai", "azure-openai")


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
