"""A GitHub server for tests: GitHub's own OpenAPI examples over HTTP, full-size.

    python -m agents.github.testing.server --port 8080 --pulls 60

serves on loopback until it is ended; `run_github_server()` does the same inside a test. The pull
request example is repeated with other numbers, titles, authors and states. Known repositories are
octocat/hello-world and octo-org/octo-repo; others are answered with 404 as GitHub does. The
repositories of the owner `faulty` fail as their names say (`faults.FAULTS`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from agents.github.testing.accounts import Accounts
from agents.github.testing.data import GitHubData
from agents.github.testing.faults import FaultMiddleware
from agents.github.testing.recorder import Recorder, RecorderMiddleware
from agents.github.testing.routes import routes
from utils.testing.live_server import loopback_socket
from utils.testing.threaded_server import threaded_server


@dataclass(frozen=True, slots=True)
class GitHubServer:
    """A running server: its address without a trailing slash, its recorded requests, and who signs in."""

    url: str
    recorder: Recorder
    accounts: Accounts


def github_app(
    recorder: Recorder,
    *,
    pulls: int = 60,
    log_host: str | None = None,
    accounts: Accounts | None = None,
    issue_text: str = "",
) -> ASGIApp:
    """The ASGI application.

    Args:
        recorder: Where requests are noted.
        pulls: Open pull requests (and open issues) of each repository; a fifth as many are closed.
        log_host: Where job logs redirect to, the way GitHub redirects to its storage; this server
            when omitted.
        accounts: Who signs in.
        issue_text: Body of each issue that is read alone; that of GitHub's example where empty.
    """
    signing_in = (accounts or Accounts()).routes()
    data = GitHubData(pulls, issue_text)
    app = FaultMiddleware(Starlette(routes=[*signing_in, *routes(data, log_host)]))
    return RecorderMiddleware(app, recorder)


@contextmanager
def run_github_server(
    *, pulls: int = 60, log_host: str | None = None, port: int = 0, issue_text: str = ""
) -> Iterator[GitHubServer]:
    """Serve on loopback, on a free port when `port` is 0, in a thread, until the block ends."""
    recorder, accounts = Recorder(), Accounts()
    app = github_app(recorder, pulls=pulls, log_host=log_host, accounts=accounts, issue_text=issue_text)
    with loopback_socket(port) as listener, threaded_server(app, listener, name="github"):
        yield GitHubServer(f"http://127.0.0.1:{listener.getsockname()[1]}", recorder, accounts)


def main() -> None:
    """Serve until ended."""
    parser = argparse.ArgumentParser(description="Serve GitHub's own API examples on loopback.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--pulls", type=int, default=60, help="open pull requests of each repository")
    options = parser.parse_args()
    app = github_app(Recorder(), pulls=options.pulls)
    uvicorn.run(app, host="127.0.0.1", port=options.port, log_level="warning", lifespan="off")


if __name__ == "__main__":
    main()
