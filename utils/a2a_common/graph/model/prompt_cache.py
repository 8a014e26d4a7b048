"""Adds cache marks to requests, for providers that cache prompts only on request: Anthropic, and some models of Bedrock."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import BaseMessage

ANTHROPIC = "anthropic-chat"
BEDROCK = "amazon_bedrock_converse_chat"

_MARK = {"cache_control": {"type": "ephemeral"}}
_BEDROCK_CACHES = re.compile(
    r"anthropic\.claude-(3-7-sonnet|3-5-haiku|(opus|sonnet|haiku)-[4-9])|amazon\.nova-(micro|lite|pro|premier)"
)
"""Ids of the models on Bedrock that take a cache point; others refuse a request that has one."""


class PromptCache(AgentMiddleware[Any, Any]):
    """Marks the end of the unchanging part, and the end of the request, from which the next request continues."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Send the request with the marks that its provider takes."""
        return await handler(marked(request))


def marked(request: ModelRequest[Any]) -> ModelRequest[Any]:
    """The request with marks; unchanged for a provider that does not use them."""
    kind = getattr(request.model, "_llm_type", "")
    if kind == ANTHROPIC and request.messages:
        system = request.system_message
        return request.override(
            system_message=system and with_mark(system),
            messages=[*request.messages[:-1], with_mark(request.messages[-1])],
        )
    if kind == BEDROCK and caches(request.model):
        return request.override(
            model_settings={**request.model_settings, **_MARK}
        )  # the client sets the points
    return request


def caches(model: Any) -> bool:
    """Whether a model on Bedrock takes cache points, by its id."""
    names = (getattr(model, "base_model_id", None), getattr(model, "model_id", None))
    return any(_BEDROCK_CACHES.search(str(name)) for name in names if name)


def with_mark(message: Any) -> Any:
    """The message with a mark on its last block, which must be text: Anthropic accepts none on an empty block or a thinking block."""
    blocks = _blocks(message)
    if not blocks or not (isinstance(blocks[-1], dict) and blocks[-1].get("text")):
        return message
    return message.model_copy(update={"content": [*blocks[:-1], {**blocks[-1], **_MARK}]})


def _blocks(message: BaseMessage) -> list[Any]:
    content = message.content
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
