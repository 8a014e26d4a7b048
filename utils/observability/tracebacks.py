"""Formats tracebacks and causes of errors for the log, without the messages of a model provider, which may quote a user's text.

Servers that validate requests with pydantic, such as vLLM and LiteLLM, quote parts of a request in their error, and so does the
exception of the client.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

QUOTING = frozenset(
    {
        "openai",
        "langchain_openai",
        "anthropic",
        "langchain_anthropic",
        "google",
        "langchain_google_genai",
        "langchain_google_vertexai",
        "langchain_aws",
        "botocore",
        "aiobotocore",
    }
)
"""Packages whose exceptions, and exceptions raised in them, may contain the response of a server."""

HIDDEN = "what the provider said is left out, since it may quote a user"

_IDENTIFIER = re.compile(r"[\w.\[\]-]{1,80}")

_CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"

_CAUSES = 6
"""Errors of a chain that are reported: enough for what a client library, its transport and the system raise for one failure."""
_LONGEST = 300
"""Characters of each, since expected errors may be logged with every request."""

ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None]


def without_quotes(exc_info: ExceptionInfo) -> str:
    """The traceback of an exception and its causes; for a provider's errors only type, status, error code and parameter name."""
    return _text(exc_info[1], set()).rstrip("\n")


def causes_of(error: BaseException) -> list[str]:
    """An error and its causes, newest first: type and message of each, and where it was raised.

    For expected errors, whose traceback would be a hundred lines and say no more.
    """
    found: list[str] = []
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen and len(found) < _CAUSES:
        seen.add(id(one))
        message = " ".join("".join(_last_lines(one, {*seen})).split())
        found.append(f"{message[:_LONGEST]}{_place(one)}")
        one = _cause(one)
    return found


def _cause(error: BaseException) -> BaseException | None:
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    return f" (in {frames[-1].name}, {Path(frames[-1].filename).name}:{frames[-1].lineno})"


def _text(error: BaseException, seen: set[int]) -> str:
    seen.add(id(error))
    before, cause = "", _cause(error)
    if cause is not None and id(cause) not in seen:
        before = _text(cause, seen) + (_CAUSE if cause is error.__cause__ else _CONTEXT)
    frames = "".join(traceback.format_tb(error.__traceback__))
    head = f"Traceback (most recent call last):\n{frames}" if frames else ""
    return f"{before}{head}{''.join(_last_lines(error, seen))}"


def _last_lines(error: BaseException, seen: set[int]) -> Iterator[str]:
    if _may_quote(error):
        kind = type(error)
        yield f"{kind.__module__}.{kind.__qualname__}: {', '.join([*_facts(error), HIDDEN])}\n"
    else:
        yield from traceback.format_exception_only(error)
    for each in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
        if id(each) not in seen:
            yield "".join(f"  | {line}" for line in _text(each, seen).splitlines(keepends=True))


def _facts(error: BaseException) -> Iterator[str]:
    """What identifies an error: its status, its code, and the name of the invalid parameter."""
    response = getattr(error, "response", None)
    body = response.get("Error", {}) if isinstance(response, dict) else {}
    facts = {
        "status": getattr(error, "status_code", None),
        "code": getattr(error, "code", None) or body.get("Code"),
        "parameter": getattr(error, "param", None),
    }
    for name, value in facts.items():
        if value is not None and _IDENTIFIER.fullmatch(str(value)):
            yield f"{name} {value}"


def _may_quote(error: BaseException) -> bool:
    raised_in = ""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        raised_in = str(frame.f_globals.get("__name__", ""))
    return not QUOTING.isdisjoint({type(error).__module__.split(".")[0], raised_in.split(".")[0]})
