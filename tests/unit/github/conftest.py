"""A GitHub on loopback, shared by the tests of a session, and tools that read from it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from agents.github.client import GitHubClient
from agents.github.settings import GitHubSettings
from agents.github.testing.server import GitHubServer, run_github_server
from agents.github.tools import build_tools
from utils.messages.results import Items, Record, parse_result
from utils.testing.live_server import loopback_socket
from utils.testing.threaded_server import threaded_server

TOKEN = "ghp_averysecrettokenofthetests0123456789"

Call = Callable[..., Awaitable[Any]]


@pytest.fixture(scope="session")
def running_github(listens: None) -> Iterator[GitHubServer]:
    with run_github_server(pulls=60) as server:
        yield server


@pytest.fixture
def github(running_github: GitHubServer) -> GitHubServer:
    running_github.recorder.requests.clear()
    return running_github


@pytest.fixture
async def clients() -> AsyncIterator[Callable[..., GitHubClient]]:
    """Makes clients that are closed after the test; keyword arguments are environment variables."""
    made: list[GitHubClient] = []

    def make(url: str, **environ: str) -> GitHubClient:
        client = GitHubClient(GitHubSettings.load({"GITHUB_API_URL": url, **environ}))
        made.append(client)
        return client

    yield make
    for client in made:
        await client.stop()


def caller(client: GitHubClient) -> Call:
    """Calls a tool by name, and gives its result as an object."""
    tools = {tool.name: tool for tool in build_tools(client)}

    async def call(name: str, **arguments: Any) -> Items | Record:
        result = parse_result(await tools[name].ainvoke(arguments))
        assert isinstance(result, Items | Record)
        return result

    return call


@pytest.fixture
def call(github: GitHubServer, clients) -> Call:
    """Calls tools without a token."""
    return caller(clients(github.url))


@pytest.fixture
def call_signed_in(github: GitHubServer, clients) -> Call:
    """Calls tools with a token."""
    return caller(clients(github.url, GITHUB_TOKEN=TOKEN))


@pytest.fixture
def elsewhere(clients) -> Iterator[Callable[[Mapping[str, Callable[[], Response]]], Call]]:
    """Calls tools of a GitHub that knows one repository, and there only what it is given, by path."""
    with ExitStack() as servers:

        def serve(answers: Mapping[str, Callable[[], Response]]) -> Call:
            routes = [
                Route(f"/repos/octocat/hello-world/{path}", lambda _, answer=answer: answer())
                for path, answer in answers.items()
            ]
            listener = servers.enter_context(loopback_socket())
            servers.enter_context(
                threaded_server(Starlette(routes=routes), listener, name="github-elsewhere")
            )
            return caller(clients(f"http://127.0.0.1:{listener.getsockname()[1]}"))

        yield serve
