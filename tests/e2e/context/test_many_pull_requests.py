"""The request that brought an earlier system down: all pull requests of a repository, raw, in a small window."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool
from structlog.testing import capture_logs

from agents.github.agent import GitHubAgent
from agents.github.testing.server import GitHubServer, run_github_server
from tests.e2e.agents.peers import ask, connected
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import Call, ChatRequest, Reply, run_strict_provider

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]

WINDOW = 32_000
PULLS = 60
ASKED = "Show all pull requests in octocat/hello-world."


class RawGitHub(GitHubAgent):
    """The GitHub agent without its protection: rows as GitHub gives them, nothing cut off."""

    async def tools(self) -> Sequence[BaseTool]:
        @tool
        async def list_pull_requests(page: int, per_page: int) -> str:
            """List pull requests."""
            params: dict[str, str | int | None] = {"page": page, "per_page": per_page, "state": "open"}
            rows = (await self._github.get_page("repos/octocat/hello-world/pulls", "pulls", params)).rows
            return "\n".join(json.dumps(row, indent=1) for row in rows)

        return [list_pull_requests]


class Reader:
    """Asks for page after page and answers when it has seen the last one."""

    def __init__(self, per_page: int) -> None:
        self.per_page, self.page = per_page, 0

    def __call__(self, request: ChatRequest) -> Reply:
        if not request.tools:
            return Reply("Summary: pull requests by octocat and hubot, all open.")
        if self.page * self.per_page >= PULLS:
            return Reply(f"There are {PULLS} open pull requests.")
        self.page += 1
        arguments = {"page": self.page, "per_page": self.per_page}
        return Reply("", [Call(f"call{self.page}", "list_pull_requests", arguments)])


@pytest.fixture(scope="module")
def github() -> Iterator[GitHubServer]:
    with run_github_server(pulls=PULLS) as server:
        yield server


@pytest.mark.parametrize(
    ("provider", "per_page"), [("openai", 6), ("openai", 60), ("aws-bedrock", 6), ("aws-bedrock", 60)]
)
async def test_sixty_raw_pull_requests_in_a_small_window_are_answered_and_the_log_says_why(
    github: GitHubServer, provider: str, per_page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_strict_provider(Reader(per_page), window=WINDOW) as double:
        environ = double.environment(provider) | {
            "GITHUB_API_URL": github.url,
            "MAX_CONTEXT_TOKENS": str(WINDOW),
            "MAX_TOOL_OUTPUT_SIZE": "100000000",
        }
        for name, value in environ.items():
            if name.startswith("AWS_"):
                monkeypatch.setenv(name, value)
        with capture_logs() as logs:
            async with running_agent(RawGitHub, environ=environ) as url, connected(url) as client:
                answer = await ask(client, ASKED)
    assert (answer.state, answer.text) == ("completed", f"There are {PULLS} open pull requests.")
    assert double.rejections == []
    own = [request for request in double.requests if request.tools]
    assert len(own) == PULLS // per_page + 1
    assert all(ASKED in [said.text for said in request.messages] for request in own)
    said: list[Any] = [entry.get("message", "") for entry in logs]
    assert any(line.startswith("Pre-flight check detected") for line in said)
    if per_page < PULLS:
        assert any(line.startswith("Summarizing ") and line.endswith(" with LangMem") for line in said)
