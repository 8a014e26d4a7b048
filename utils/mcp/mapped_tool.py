"""A tool whose arguments are passed as one mapping, so that their names cannot collide with LangChain's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from langchain_core.tools import BaseTool
from pydantic import Field


class MappedTool(BaseTool):
    """Passes on the arguments that the model sent, unchanged.

    LangChain's `StructuredTool` passes arguments by name, and silently replaces those that are named `config` or
    `run_manager`: a call would be made without an argument that the user has approved.

    Attributes:
        function: Called with the arguments.
    """

    function: Callable[[Mapping[str, Any]], Awaitable[Any]] = Field(exclude=True)

    def _to_args_and_kwargs(
        self,
        tool_input: str | dict[str, Any],
        tool_call_id: str | None,  # noqa: ARG002 - LangChain names it
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (dict(tool_input) if isinstance(tool_input, dict) else {},), {}

    async def _arun(self, arguments: Mapping[str, Any], /) -> Any:
        return await self.function(arguments)

    def _run(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{self.name} is asynchronous")
