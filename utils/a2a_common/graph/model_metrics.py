"""Innermost middleware: records a span and metrics for each attempt of a model call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage

from utils.a2a_common.graph.stream_translator import usage_of
from utils.context.reported_usage import believed
from utils.observability.observed import observed_model_call


class ModelMetrics(AgentMiddleware[Any, Any]):
    """Measures model calls. Sees the request that the provider gets, after all that prepares it."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Let the model answer, and note its tokens: those that the context management believes."""
        with observed_model_call(name_of(request.model)) as call:
            response = await handler(request)
            for message in response.result:
                if isinstance(message, AIMessage) and (answer := believed(message)).usage_metadata:
                    call.usage = usage_of(answer)
            return response


def name_of(model: Any) -> str:
    """What the provider calls the model; its class where it has no name."""
    for attribute in ("model_name", "model_id", "model"):
        if isinstance(name := getattr(model, attribute, None), str) and name:
            return name
    return type(model).__name__
