"""Innermost middleware: passes on an answer that does not fill the form, for which LangChain would raise an error."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.structured_output import StructuredOutputValidationError


class UnfilledForms(AgentMiddleware[Any, Any]):
    """Whether an answer fills `answer_schema` is judged after it was read, with every other reason to ask again."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model; its text is the answer, even if LangChain fails to parse the form.

        Raises:
            StructuredOutputValidationError: The form was called as a tool, and the agent's own graph does not handle such an error.
        """
        try:
            return await handler(request)
        except StructuredOutputValidationError as error:
            if error.ai_message.tool_calls:
                raise
            return ModelResponse([error.ai_message])
