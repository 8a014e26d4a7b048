"""The private parts of libraries that this project uses, where there is no public way.

Any of them may change with a minor version. Each has a test in tests/unit/parts/test_library_internals.py that fails then and names it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any


def http_client_of(client: Any) -> Any:
    """The HTTP client of an asynchronous client of the packages `openai` and `anthropic`, an `httpx.AsyncClient` or one of httpx2."""
    return client._client  # noqa: SLF001


def client_of_embeddings(embeddings: Any) -> Any:
    """The client of the package `openai` behind an `OpenAIEmbeddings` or `AzureOpenAIEmbeddings` of LangChain."""
    return embeddings.async_client._client  # noqa: SLF001


def set_beta_completions(client: Any, completions: Any) -> None:
    """Have `client.beta.chat.completions` of an `openai.AsyncOpenAI` be another object: LangChain streams structured answers through it."""
    vars(client)["beta"] = SimpleNamespace(chat=SimpleNamespace(completions=completions))


def forget_runner(node: Any) -> None:
    """Drop the runner that a `PregelNode` of LangGraph keeps in a `cached_property`, after its `bound` was replaced."""
    vars(node).pop("node", None)


def function_of(code: Any) -> Callable[..., Awaitable[Any]] | None:
    """The asynchronous function that a runnable wraps, as LangGraph's nodes do (`RunnableCallable`); `None` for any other runnable."""
    function: Callable[..., Awaitable[Any]] | None = getattr(code, "afunc", None)
    return function


def set_function(code: Any, function: Callable[..., Awaitable[Any]]) -> None:
    """Have such a runnable call another function."""
    vars(code)["afunc"] = function


def replace_channel(graph: Any, key: str, make: Callable[[Any, Any], Any]) -> None:
    """Replace a channel with a reducer in a compiled graph of LangGraph.

    Args:
        graph: The graph.
        key: The key of the state.
        make: Creates the channel from the type and the reducer of the old one.
    """
    old = graph.channels[key]
    channel = make(old.typ, old.operator)
    channel.key = key
    graph.channels[key] = channel
