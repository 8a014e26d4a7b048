"""`@agent_tool`: makes a typed function a tool that models choose well and that fails safely.

    @agent_tool(examples=["List the open incidents", "Is there an outage?"])
    async def list_incidents(state: Literal["open", "all"] = "all") -> list[dict[str, str]]:
        \"\"\"List incidents, newest first.

Args:
            state: Only incidents in this state.
        \"\"\"

The name is the function's, the description its docstring, the arguments' schema its signature. A function of a
module is named in the agent's `tools()`; a method of the agent is offered by the default `tools()`.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_origin, get_type_hints, overload
from weakref import WeakKeyDictionary

from utils.a2a_common.graph.tools.result import shaped, usable
from utils.a2a_common.graph.tools.thread import in_own_thread
from utils.errors import PlatformError, UpstreamRefused, UpstreamUnavailable
from utils.messages.repeatable import CHANGES, READ_ONLY
from utils.messages.unanswered import unanswered
from utils.net.unsent import never_sent

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from pydantic import BaseModel

_SERVER_ERROR = 500
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
"""Kinds of arguments that are given by name, as models give them all."""

_RESERVED = frozenset({"config", "callbacks", "run_manager", "model_config"})
"""Names of arguments that LangChain fills itself, or that pydantic takes for its own: a model's value never arrives."""


@dataclass(frozen=True, slots=True)
class _Arguments:
    """What the signature of a function defines.

    Attributes:
        schema: Its arguments but those that the graph fills, as a model sees them.
        injected: Names of those that the graph fills.
    """

    schema: type[BaseModel]
    injected: tuple[str, ...]


_READ: WeakKeyDictionary[types.FunctionType, dict[tuple[str, bool], _Arguments]] = WeakKeyDictionary()
"""The arguments of functions that were read, by the tool's name and whether it is a method: making the class of a schema is most
of what a tool costs, and each agent, and each graph that is built again, needs it."""


@dataclass(frozen=True)
class AgentTool:
    """A function and how it is offered to a model. It can still be called as a plain function.

    Attributes:
        function: What runs: plain functions in a thread, so that they do not block the agent.
        name: Name for the model.
        examples: Requests that it answers, in users' words.
        kind: What a row of its result is, plural: "incidents".
        approval: What the user is asked to approve before each call; empty for none.
        read_only: Whether it changes nothing, so that a call that was cut off by a restart may run again.
    """

    function: Callable[..., Any]
    name: str
    examples: tuple[str, ...] = ()
    kind: str = ""
    approval: str = ""
    read_only: bool = False

    def __call__(self, *args: Any, **values: Any) -> Any:
        """Call the function itself, without approval and conversion."""
        return self.function(*args, **values)

    @overload
    def __get__(self, instance: None, owner: type) -> AgentTool: ...
    @overload
    def __get__(self, instance: object, owner: type) -> AgentTool: ...
    def __get__(self, instance: object | None, owner: type) -> AgentTool:
        """The tool with its function bound to an agent, where it is a method of one."""
        if instance is None:
            return self
        return replace(self, function=types.MethodType(self.function, instance))

    def build(self) -> BaseTool:
        """The LangChain tool.

        Raises:
            TypeError: The function has no docstring, or an argument without a type or that cannot be given by name.
        """
        from utils.a2a_common.graph.tools.plain_tool import PlainTool

        arguments = self._arguments()
        return PlainTool.from_function(
            coroutine=self._runner(arguments.injected),
            name=self.name,
            description=arguments.schema.__doc__ or "",
            args_schema=arguments.schema,
            metadata={
                "examples": list(self.examples),
                **self._marks,
            },
        )

    def _arguments(self) -> _Arguments:
        function: Any = self.function
        if is_method := isinstance(function, types.MethodType):
            function = function.__func__
        if not isinstance(function, types.FunctionType):
            return self._read()
        read = _READ.setdefault(function, {})
        if (key := (self.name, is_method)) not in read:
            read[key] = self._read()
        return read[key]

    def _read(self) -> _Arguments:
        from langchain_core.tools.base import create_schema_from_function

        self._check()
        injected = self._injected()
        schema: Any = create_schema_from_function(
            self.name, self.function, filter_args=injected, parse_docstring=True
        )
        return _Arguments(schema, tuple(injected))

    def _check(self) -> None:
        if not (inspect.getdoc(self.function) or "").strip():
            raise TypeError(f"The tool {self.name} needs a docstring: models choose a tool by it.")
        for parameter in inspect.signature(self.function).parameters.values():
            if parameter.kind not in _NAMED:
                shown = parameter.replace(annotation=parameter.empty, default=parameter.empty)
                problem = f"The argument {shown} of the tool {self.name} cannot be given by name, as models give all"
                raise TypeError(f"{problem}. Name each argument, without * and /.")
            if parameter.name in _RESERVED or parameter.name.startswith("_"):
                problem = f"The argument {parameter.name} of the tool {self.name} has a name that LangChain or pydantic uses itself"
                raise TypeError(f"{problem}. Give it another name.")
            if parameter.annotation is parameter.empty:
                raise TypeError(f"The argument {parameter.name} of the tool {self.name} needs a type.")

    def _injected(self) -> list[str]:
        """Arguments that the graph fills, and no model."""
        from langchain.tools import ToolRuntime

        try:
            hints = get_type_hints(self.function)
        except NameError as error:
            problem = (
                f"The tool {self.name} needs {error.name} imported where it runs, not for type checkers only."
            )
            raise TypeError(problem) from error
        return [name for name, hint in hints.items() if (get_origin(hint) or hint) is ToolRuntime]

    def _runner(self, injected: Sequence[str]) -> Callable[..., Any]:
        from langchain_core.messages import ToolMessage
        from langgraph.types import Command

        from utils.a2a_common.graph.questions.asked_by_tools import approve

        @functools.wraps(self.function)
        async def run(*args: Any, **values: Any) -> Any:
            if self.approval:
                approve(
                    self.approval, self.name, {name: values[name] for name in values if name not in injected}
                )
            result = usable(await self._run(*args, **values))
            return result if isinstance(result, Command | ToolMessage) else shaped(result, self.kind)

        return run

    async def _run(self, *args: Any, **values: Any) -> Any:
        import httpx

        try:
            if inspect.iscoroutinefunction(self.function):
                return await self.function(*args, **values)
            return await in_own_thread(self.name, self.function, *args, **values)
        except httpx.HTTPStatusError as error:
            raise self._failure(error.response.status_code) from error
        except httpx.HTTPError as error:
            if never_sent(error):
                away = f"The service behind {self.name} cannot be reached right now."
                raise UpstreamUnavailable(away) from error
            silent = UpstreamUnavailable(f"The service behind {self.name} did not answer.")
            raise unanswered(silent, self._marks) from error

    def _failure(self, status: int) -> PlatformError:
        if status < _SERVER_ERROR:
            return UpstreamRefused(f"The service behind {self.name} answered with status {status}.")
        failed = UpstreamUnavailable(f"The service behind {self.name} failed with status {status}.")
        return unanswered(failed, self._marks)

    @property
    def _marks(self) -> dict[str, bool]:
        """What its `metadata` records about repeated calls."""
        marks = {READ_ONLY: self.read_only, CHANGES: bool(self.approval)}
        return {mark: True for mark, holds in marks.items() if holds}


@overload
def agent_tool(function: Callable[..., Any], /) -> AgentTool: ...
@overload
def agent_tool(
    *,
    examples: Iterable[str] = (),
    name: str = "",
    kind: str = "",
    approval: str = "",
    read_only: bool = False,
) -> Callable[[Callable[..., Any]], AgentTool]: ...
def agent_tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    examples: Iterable[str] = (),
    name: str = "",
    kind: str = "",
    approval: str = "",
    read_only: bool = False,
) -> AgentTool | Callable[[Callable[..., Any]], AgentTool]:
    """Make a function a tool; without arguments the parentheses may be left out.

    Its result is what the function returns: a shape of `utils.messages.results`, rows (a list of mappings,
    dataclasses or pydantic models), one thing (a mapping, dataclass or model), text, or a `Command` of LangGraph. It may raise the types of
    `utils.errors`; errors of httpx become one of them, and everything else is an internal error that is logged.

    Args:
        function: The function, where the parentheses are left out.
        examples: Requests that it answers, in users' words: models choose by them.
        name: Name for the model; the function's when empty.
        kind: What a row of its result is, plural: "incidents"; from the name when empty.
        approval: What the user is asked to approve before each call, as in "delete a ticket". The question
            shows all arguments. Empty for a tool that changes nothing.
        read_only: Whether it changes nothing. A call that was cut off by a restart of the agent then runs again; for
            any other tool the model gets the result that the outcome is unknown.

    Raises:
        TypeError: It is declared read-only and asks for approval of a change.
    """
    if read_only and approval:
        raise TypeError("A tool that asks for approval of a change is not read-only.")

    def decorate(function: Callable[..., Any]) -> AgentTool:
        called = name or function.__name__
        rows = kind or called.removeprefix("list_").removeprefix("get_").replace("_", " ")
        return AgentTool(function, called, tuple(examples), rows, approval, read_only)

    return decorate if function is None else decorate(function)


def declared_tools(agent: object) -> Sequence[AgentTool]:
    """The methods of an agent that are tools, in the order of their definition, a base class's first.

    Raises:
        TypeError: A tool is hidden by an attribute that the agent sets on itself.
    """
    names: dict[str, None] = {}
    for cls in reversed(type(agent).__mro__):
        names |= {name: None for name, value in vars(cls).items() if isinstance(value, AgentTool)}
    if hidden := names.keys() & vars(agent).keys():
        problem = f"{type(agent).__name__}.{min(hidden)} is a tool, but `{min(hidden)}` is an attribute that the agent"
        raise TypeError(f"{problem} sets on itself. Give the tool another name.")
    found = (getattr(agent, name) for name in names)
    return [tool for tool in found if isinstance(tool, AgentTool)]


def built(tools: Iterable[BaseTool | AgentTool]) -> list[BaseTool]:
    """Tools as LangChain takes them."""
    return [tool.build() if isinstance(tool, AgentTool) else tool for tool in tools]
