"""Keeps a question of a tool, even if the tool's own code caught it as an error.

A question leaves the tool as an exception, so an `except Exception` around it swallows it: the tool would continue
without an answer, and the user would never see the question. The question is recorded with the call, and raised again
after the tool has returned or raised something else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from utils.a2a_common.graph.questions.asked_by_tools import asked_questions

log = structlog.get_logger(__name__)


class KeptQuestions(AgentMiddleware[Any, Any]):
    """Ends a call in which something was asked with that question."""

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run the call.

        Raises:
            GraphInterrupt: It has asked something that has no answer yet.
        """
        with asked_questions() as asked:
            try:
                result = await handler(request)
            except Exception as error:
                if asked and error is not asked[0]:
                    log.warning("tool.question_swallowed", tool=request.tool_call["name"])
                    raise asked[0] from None
                raise
        if asked:
            log.warning("tool.question_swallowed", tool=request.tool_call["name"])
            raise asked[0]
        return result
