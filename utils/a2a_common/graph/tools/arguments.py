"""Turns a schema's validation error into a sentence for the model and the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from utils.errors import ArgumentsRefused

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

_MOST_REASONS = 3
_LONGEST_NAME = 60
_LONGEST_REASON = 200


class ArgumentCheck:
    """Watches one call of a tool for an error of validation.

    The graph turns such an error into text of its own, which holds every argument and hides the type of the
    error. The tool of `watched` records it.

    Attributes:
        error: What went wrong: `ArgumentsRefused`, or an error of validation inside the tool; `None` before.
    """

    def __init__(self, tool: BaseTool) -> None:
        self._tool = tool
        self.error: Exception | None = None

    @property
    def watched(self) -> BaseTool:
        """The tool, to be called in its place."""
        if self._tool.handle_validation_error:  # that tool answers by itself
            return self._tool
        return self._tool.model_copy(update={"handle_validation_error": self._note})

    def _note(self, error: Any) -> str:
        schema = self._tool.args_schema
        own = isinstance(schema, type) and issubclass(schema, BaseModel)
        if not isinstance(error, ValidationError):
            self.error = error
        elif own and error.title == _title(schema):
            self.error = ArgumentsRefused(refusal(self._tool.name, error))
            return str(self.error)
        else:  # its text quotes the value, which must not be logged
            hidden = TypeError(f"{error.error_count()} invalid values for {error.title}")
            self.error = hidden.with_traceback(error.__traceback__)
        raise error


def refusal(tool: str, error: ValidationError) -> str:
    """Why a tool was not run: each argument with what is allowed, never with its full value."""
    reasons = [_reason(each) for each in error.errors(include_url=False)]
    more = len(reasons) - _MOST_REASONS
    listed = "; ".join(reasons[:_MOST_REASONS]) + (f"; and {more} more" if more > 0 else "")
    return f"The tool {tool} was not run: {listed}."


def _reason(detail: Any) -> str:
    name = ".".join(str(part) for part in detail["loc"])[:_LONGEST_NAME] or "the arguments"
    given = detail["input"]
    match detail["type"]:
        case "string_too_long":
            most = detail["ctx"]["max_length"]
            return f"{name} has {len(given)} characters, and at most {most} are allowed"
        case "missing":
            return f"{name} is missing"
        case _:
            reason = str(detail["msg"]).removeprefix("Value error, ")
            return f"{name}: {reason[:_LONGEST_REASON].rstrip('.')}"


def _title(schema: Any) -> str:
    return str(schema.model_config.get("title") or schema.__name__)
