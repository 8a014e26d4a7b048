"""A tool whose schema costs the model as few tokens as possible, with every argument.

A schema is sent with every request of an agent, so that each of its tokens is paid for with every request.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from pydantic import BaseModel

from utils.messages.results import Result, dump_result

_BOUNDS = ("minimum", "maximum", "minLength")

_WRITTEN: WeakKeyDictionary[type[BaseModel], dict[tuple[str, str], dict[str, Any]]] = WeakKeyDictionary()
"""The schemas of models of arguments, by the name and the description of the tool. LangChain makes a class for each tool to write
one, which is much of what building an agent with many tools costs."""


class PlainTool(StructuredTool):
    """A structured tool with a plain schema. `args_schema` still decides which arguments it accepts.

    Its function may return a type of `utils.messages.results`: the caller gets it as JSON.

    Attributes:
        explained: Names of arguments that the agent's system prompt explains, once for all its tools.
    """

    explained: frozenset[str] = frozenset()

    @property
    def tool_call_schema(self) -> dict[str, Any]:
        """The schema of the arguments for the model."""
        model = self.args_schema
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            return plain_schema(self._sent(), self.explained)
        written = _WRITTEN.setdefault(model, {})
        if (key := (self.name, self.description)) not in written:
            written[key] = self._sent()
        return plain_schema(written[key], self.explained)

    def _sent(self) -> dict[str, Any]:
        """What LangChain would send: the arguments without those that the graph injects."""
        schema: Any = super().tool_call_schema
        return schema if isinstance(schema, dict) else schema.model_json_schema()

    def _run(
        self,
        *args: Any,
        config: RunnableConfig,
        run_manager: CallbackManagerForToolRun | None = None,
        **values: Any,
    ) -> Any:
        return _written(super()._run(*args, config=config, run_manager=run_manager, **values))

    async def _arun(
        self,
        *args: Any,
        config: RunnableConfig,
        run_manager: AsyncCallbackManagerForToolRun | None = None,
        **values: Any,
    ) -> Any:
        return _written(await super()._arun(*args, config=config, run_manager=run_manager, **values))

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """The arguments of a call, with those that the graph injects: LangChain drops them if the model has none to fill."""
        args, values = super()._to_args_and_kwargs(tool_input, tool_call_id)
        given: dict[str, Any] = tool_input if isinstance(tool_input, dict) else {}
        return args, {**{name: given[name] for name in self._injected_args_keys if name in given}, **values}


def _written(result: Any) -> Any:
    return dump_result(result) if isinstance(result, Result) else result


def plain_schema(schema: Mapping[str, Any], explained: Collection[str] = ()) -> dict[str, Any]:
    """A tool's schema without what is of no use to a model. Pure.

    An argument that may be `null` is one that may be left out. An argument of `explained` loses its description, its
    bounds and a default that is no choice; the tool refuses a wrong value with a sentence.
    """
    properties = {
        name: _plain(shape, full=name not in explained)
        for name, shape in schema.get("properties", {}).items()
    }
    return {**{key: value for key, value in schema.items() if key != "title"}, "properties": properties}


def _is_informative(key: str, value: Any) -> bool:
    """Whether a keyword of an argument's schema says what a model would not do by itself."""
    return not (key == "minLength" and value == 1)


def _plain(shape: Mapping[str, Any], *, full: bool) -> dict[str, Any]:
    kept = {
        key: value
        for key, value in shape.items()
        if key not in {"title", "anyOf"} and _is_informative(key, value)
    }
    if kept.get("default", ...) is None:
        del kept["default"]
    options = [option for option in shape.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) == 1:
        kept = {**{key: value for key, value in options[0].items() if _is_informative(key, value)}, **kept}
    elif options:
        kept["anyOf"] = options
    if full:
        return kept
    dropped = {"description", *_BOUNDS} | (set() if "enum" in kept else {"default"})
    return {key: value for key, value in kept.items() if key not in dropped}
