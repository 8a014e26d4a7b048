"""Every shipped agent in a window of 8,192 tokens, and what is said of one of 4,096."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from agents.github.agent import GitHubAgent
from agents.github.testing.server import GitHubServer, run_github_server
from agents.rag.agent import RagAgent
from agents.template.agent import TemplateAgent
from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.agents.test_delegation import until_ready
from tests.e2e.delegation.teams import supervising
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import Call, ChatRequest, Reply, StrictProvider, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

WINDOW = 8_192
REPOSITORY = {"owner": "octocat", "repo": "hello-world"}
ASKED = "List all open issues, pull requests and commits of octocat/hello-world, show number 14, and say how I raise a window."
DOCUMENTS = Path(__file__).parents[3] / "docs"

AGENTS = {"github": GitHubAgent, "rag": RagAgent, "template": TemplateAgent}
SCRIPTS: Mapping[str, list[tuple[str, dict[str, Any]]]] = {
    "github": [
        ("list_issues", {**REPOSITORY, "limit": 60}),
        ("list_pull_requests", {**REPOSITORY, "limit": 60}),
        ("list_commits", {**REPOSITORY, "limit": 60}),
        ("get_pull_request", {**REPOSITORY, "number": 14, "include_diff": True}),
    ],
    "rag": [
        ("search", {"query": "How do I raise the context window of Ollama?", "limit": 12}),
        ("search", {"query": "What happens before a model request?", "limit": 12}),
    ],
    "template": [("list_entries", {})],
    "supervisor": [(name, {"request": ASKED}) for name in ("github", "rag", "template")],
}
OWN_TOOL = {
    "github": "list_issues",
    "rag": "fetch_document",
    "template": "list_entries",
    "supervisor": "github",
}


class Models:
    """The models of all agents: each makes the calls of its script, one a request, and then answers at length."""

    def __init__(self) -> None:
        self.left = {name: list(calls) for name, calls in SCRIPTS.items()}
        self.asked: dict[str, list[ChatRequest]] = {name: [] for name in SCRIPTS}

    def __call__(self, request: ChatRequest) -> Reply:
        """The next call of the agent that asks."""
        offered = {tool.name for tool in request.tools}
        agent = next((name for name, tool in OWN_TOOL.items() if tool in offered), None)
        if agent is None:
            return Reply("A short form of it.")
        self.asked[agent].append(request)
        if self.left[agent]:
            return Reply("", [Call(f"{agent}{len(self.left[agent])}", *self.left[agent].pop(0))])
        return Reply(f"This is what {agent} found: " + "an open one by octocat, of yesterday; " * 60)


@pytest.fixture(scope="module")
def github() -> Iterator[GitHubServer]:
    with run_github_server(pulls=60) as server:
        yield server


def environment(double: StrictProvider, provider: str, github: GitHubServer, window: int) -> dict[str, str]:
    return double.environment(provider) | {
        "MAX_CONTEXT_TOKENS": str(window),
        "GITHUB_API_URL": github.url,
        "GITHUB_TOKEN": "double",
        "GITHUB_WRITE": "true",
        "RAG_SOURCES": ",".join(
            str(DOCUMENTS / f"{page}.md") for page in ("models", "local-models", "context")
        ),
        "EMBEDDINGS_PROVIDER": "none",
    }


async def asked_alone(agent: str, environ: Mapping[str, str]) -> Answer:
    async with running_agent(AGENTS[agent], environ=environ) as url, connected(url) as client:
        await until_ready(url)
        return await ask(client, ASKED)


def listed(request: ChatRequest) -> list[dict[str, Any]]:
    """The lists that a request shows, each whole JSON."""
    shown = [message.text for message in request.messages if message.role == "tool"]
    return [json.loads(text) for text in shown if text.startswith('{"')]


@pytest.mark.parametrize("provider", ["openai-compatible", "openai"])
@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.long
async def test_an_agent_answers_from_large_results(agent: str, provider: str, github: GitHubServer) -> None:
    with run_strict_provider(models := Models(), window=WINDOW) as double:
        answer = await asked_alone(agent, environment(double, provider, github, WINDOW))
    assert answer.state == "completed"
    assert answer.text.startswith(f"This is what {agent} found: ")
    assert double.rejections == []
    assert len(models.asked[agent]) == len(SCRIPTS[agent]) + 1
    for request in models.asked[agent]:
        assert ASKED in [message.text for message in request.messages]
        for found in listed(request):
            rows = found.get("items") or found.get("articles") or []
            if "listed" in found:
                assert f"{len(rows)} of {found['listed']} " in found["note"]
                assert len(rows) < found["listed"]


async def test_the_supervisor_answers_from_all_of_them(github: GitHubServer) -> None:
    with run_strict_provider(models := Models(), window=WINDOW) as double:
        environ = environment(double, "openai-compatible", github, WINDOW)
        async with AsyncExitStack() as stack:
            urls = {
                name: await stack.enter_async_context(running_agent(made, environ=environ))
                for name, made in AGENTS.items()
            }
            url = await stack.enter_async_context(
                supervising(urls, None, environ, agent_class=PlatformEngineer)
            )
            client = await stack.enter_async_context(connected(url))
            answer = await ask(client, ASKED)
    assert answer.state == "completed"
    assert answer.text.startswith("This is what supervisor found")
    assert double.rejections == []
    assert len(models.asked["supervisor"]) == 4
    returned = [message.text for message in models.asked["supervisor"][-1].messages if message.role == "tool"]
    assert all(f"This is what {name} found" in text for name, text in zip(AGENTS, returned, strict=True))


async def test_in_a_window_of_4096_the_agent_that_does_not_fit_says_what_to_do(github: GitHubServer) -> None:
    answers = {}
    for agent in AGENTS:
        with run_strict_provider(Models(), window=4_096) as double:
            answers[agent] = await asked_alone(agent, environment(double, "openai-compatible", github, 4_096))
        assert double.rejections == []
    assert {name: answer.state for name, answer in answers.items()} == {
        "github": "failed",
        "rag": "completed",
        "template": "completed",
    }
    sentence = answers["github"].metadata(ERROR_EXTENSION)[0]["message"]
    for part in (
        "the model's window of 4,096 tokens",
        "Every agent works with 8,192",
        "OLLAMA_CONTEXT_LENGTH",
        "--ctx-size",
        "--max-model-len",
        "MAX_CONTEXT_TOKENS",
    ):
        assert part in sentence
