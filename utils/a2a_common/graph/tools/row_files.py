"""Attaches the rows that a tool found as a CSV file, if the user asked for one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage

from utils.a2a_common.graph.tools.events import publish
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import ArtifactAdded, FileBytes
from utils.messages.answer_form import wants_csv
from utils.messages.csv_rows import csv_of
from utils.messages.results import Items, result_in

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.types import Command

CSV = "text/csv"


class RowFiles(AgentMiddleware[Any, Any]):
    """Publishes each list of rows as a complete artifact of the task: the model's view of it may be shortened.

    The user's text decides whether, also where another agent delegated a part of the request.
    """

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run the call, and attach the rows of its result."""
        result = await handler(request)
        asked = request.runtime.context
        if isinstance(result, ToolMessage) and isinstance(asked, AgentRequest) and _wants_csv(asked):
            found = result_in(result)
            if isinstance(found, Items) and found.items:
                file = FileBytes(csv_of(found).encode(), _name(found.kind), CSV)
                publish(ArtifactAdded([file], name=found.kind))
        return result


def _wants_csv(asked: AgentRequest) -> bool:
    original = asked.delegation.original_request if asked.delegation is not None else ""
    return wants_csv(asked.text) or wants_csv(original)


def _name(kind: str) -> str:
    """Such as `pull-requests.csv`."""
    return f"{re.sub(r'[^a-z0-9]+', '-', kind.lower()).strip('-') or 'rows'}.csv"
