"""HTTP clients are made by `utils/net/web_client.py` alone: bounded in what they take, without cookies, without redirects of their own.

Without a bound a few kilobytes of a server may become gigabytes here, and a cookie that one person's answer brought would go to the
server with the next person's request. Clients that other packages make are given an empty jar, or lose theirs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.style.sources import dotted, nodes_of, python_files, short

DOOR = "utils/net/web_client.py"
OURS = "utils/testing/"
"""It asks what this project started itself."""
PACKAGES = {"httpx", "httpx2", "aiohttp", "requests", "urllib3"}
MADE = {
    "AsyncClient", "Client", "ClientSession", "Session", "PoolManager",
    "get", "post", "put", "patch", "delete", "head", "options", "request", "stream",
}  # fmt: skip
"""What makes a client, or a request with one that is made for it."""
OF_PACKAGES = {
    "agents/github/connection.py": "GitHubCore",
    "utils/embeddings/remote.py": "OpenAIEmbeddings",
    "utils/llm/anthropic_client.py": "ChatAnthropic",
    "utils/llm/chat_completions.py": "ChatOpenAI",
    "utils/llm/google_client.py": "ChatGoogleGenerativeAI",
    "utils/observability/export.py": "requests.Session",
}
"""Files in which another package makes a client; each names one of `FORGETFUL`."""
FORGETFUL = {"disable_cookies", "guard_client", "guard_http"}
MAKERS = {
    "githubkit", "openai", "anthropic", "google.genai", "langchain_openai", "langchain_anthropic",
    "langchain_google_genai", "requests", "aiohttp",
}  # fmt: skip
"""Packages that make HTTP clients with a jar."""


def is_made(name: str) -> bool:
    package, _, made = name.rpartition(".")
    return (made in MADE and package in PACKAGES) or name in {"AsyncClient", "McpHttpClient"}


def calls() -> Iterator[str]:
    """Where a client is made past the door."""
    for path in python_files():
        if short(path).startswith(OURS) or short(path) == DOOR:
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and is_made(dotted(node.func)):
                yield f"{short(path)}:{dotted(node.func)}"


def imports() -> Iterator[tuple[str, str]]:
    """Each file, and each module that it imports."""
    for path in python_files():
        for node in nodes_of(path):
            if isinstance(node, ast.Import):
                yield from ((short(path), each.name) for each in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield short(path), node.module or ""


def names_of(file: str) -> set[str]:
    (path,) = [each for each in python_files() if short(each) == file]
    return {node.id for node in nodes_of(path) if isinstance(node, ast.Name)}


@pytest.mark.parametrize(
    "name",
    [
        "httpx.AsyncClient", "httpx.Client", "httpx2.AsyncClient", "httpx.get", "requests.Session", "requests.post",
        "aiohttp.ClientSession", "AsyncClient", "McpHttpClient",
    ],
)  # fmt: skip
def test_what_makes_a_client_is_found(name: str) -> None:
    assert is_made(name)


def test_clients_are_made_by_one_door() -> None:
    assert set(calls()) == {"utils/observability/export.py:requests.Session"}


@pytest.mark.parametrize("file", OF_PACKAGES)
def test_a_client_that_another_package_makes_keeps_no_cookie(file: str) -> None:
    assert names_of(file) & FORGETFUL


def test_the_files_in_which_other_packages_make_clients_are_known() -> None:
    """A file that imports such a package makes its client, or uses what another of them has made."""
    found = {
        file for file, module in imports() if any(f"{module}.".startswith(f"{each}.") for each in MAKERS)
    }
    assert set(OF_PACKAGES) <= found
    folders = tuple(file.rpartition("/")[0] for file in OF_PACKAGES)
    assert [file for file in sorted(found) if not file.startswith((*folders, OURS))] == []
