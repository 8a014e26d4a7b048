"""Ends the run with the model's question to the user, and continues with the reply.

It wraps the model call, so that it costs no superstep. After the reply LangGraph runs the call again from its
beginning: a model that marks its questions must ask the same one for the same messages.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.types import interrupt

from utils.a2a_common.graph.questions.interrupts import Reply
from utils.messages.question import Question, asks_user
from utils.messages.text import message_text


class ModelQuestions(AgentMiddleware[Any, Any]):
    """Passes the model's question to the user, and the reply to the model."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model until its answer is not a question. Question and reply become part of the conversation."""
        exchanged: list[AnyMessage] = []
        while True:
            response = await handler(request.override(messages=[*request.messages, *exchanged]))
            last = response.result[-1]
            if not isinstance(last, AIMessage) or not asks_user(last):
                return replace(response, result=[*exchanged, *response.result])
            reply = Reply.of(interrupt(Question(message_text(last)).value()))
            exchanged += [last, HumanMessage(reply.text)]
