"""Specification of a tool: its name, arguments, function, and examples of requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from agents.github.client import GitHubClient
from agents.github.tools.arguments import SHARED_ARGUMENTS
from utils.messages.repeatable import CHANGES, READ_ONLY
from utils.messages.results import Result

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool

A = TypeVar("A", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ToolSpec(Generic[A]):
    """One tool.

    Attributes:
        name: Name for the model.
        description: What it does, for the model.
        arguments: What it takes.
        run: What it does. Raises the typed errors of `GitHubClient`.
        examples: Requests that it answers, in users' words.
        changes: Whether it handles requests to change something.
    """

    name: str
    description: str
    arguments: type[A]
    run: Callable[[GitHubClient, A], Awaitable[Result]]
    examples: tuple[str, ...]
    changes: bool = False

    def bind(self, github: GitHubClient) -> StructuredTool:
        """The LangChain tool that reads from `github`; its result is the JSON of a `Result`."""
        from utils.a2a_common.graph.tools.plain_tool import PlainTool

        async def call(**values: Any) -> Result:
            return await self.run(github, self.arguments.model_validate(values))

        return PlainTool.from_function(
            coroutine=call,
            name=self.name,
            description=self.description,
            args_schema=self.arguments,
            explained=SHARED_ARGUMENTS,
            metadata={"examples": list(self.examples), CHANGES: self.changes, READ_ONLY: True},
        )
