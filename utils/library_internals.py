"""The private parts of libraries that this project uses, since they offer no other way.

Any of them may change with a minor version. Each has a test in tests/unit/parts/test_library_internals.py, which fails by its name then,
before anything else does.
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
    """Let a `PregelNode` of LangGraph make its runner again, which it keeps in a `cached_property`, after its `bound` was replaced."""
    vars(node).pop("node", None)


def function_of(code: Any) -> Callable[..., Awaitable[Any]] | None:
    """The asynchronous function of a runnable that was made of one, as LangGraph's nodes are (`RunnableCallable`); `None` for any other."""
    function: Callable[..., Awaitable[Any]] | None = getattr(code, "afunc", None)
    return function


def set_function(code: Any, function: Callable[..., Awaitable[Any]]) -> None:
    """Have such a runnable call another function."""
    vars(code)["afunc"] = function


def replace_channel(graph: Any, key: str, make: Callable[[Any, Any], Any]) -> None:
    """Put another channel in place of one of a compiled graph of LangGraph that has a reducer.

    Args:
        graph: The graph.
        key: The key of the state.
        make: Makes the channel from the type and the reducer of the old one.
    """
    old = graph.channels[key]
    channel = make(old.typ, old.operator)
    channel.key = key
    graph.channels[key] = channel
