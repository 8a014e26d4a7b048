"""Keeps LangSmith from visiting a thread around each middleware when its tracing is off.

LangChain decorates the hooks of every middleware with LangSmith's `traceable`, which prepares and ends a span in a thread,
also where there is no span to prepare: two visits for each middleware and model call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Any


async def in_place_unless_traced(
    in_thread: Callable[..., Awaitable[Any]],
    context: Context,
    function: Callable[..., Any],
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Call `function` in `context`; in a thread if tracing is on, because a span serialises the call."""
    from langsmith.utils import tracing_is_enabled

    if tracing_is_enabled():
        return await in_thread(context, function, *args, **kwargs)
    return context.run(function, *args, **kwargs)


def stay_in_place_unless_traced() -> None:
    """Have LangSmith call its preparations in this way, in the whole process."""
    import langsmith

    langsmith.set_runtime_overrides(aio_to_thread=in_place_unless_traced)
