"""The main job with the real agents: documents and GitHub, alone and together, with every model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from agents.github.agent import GitHubAgent
from agents.github.testing.server import run_github_server
from agents.rag.agent import RagAgent
from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.agents.test_delegation import until_ready
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.embeddings import create_embedder
from utils.llm.factory import create_chat_model
from utils.settings import EmbeddingSettings, LLMSettings
from utils.testing.live_agent import running_agent
from utils.testing.live_server import loopback_socket
from utils.testing.strict_provider import RoutingBrain, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

WINDOW = 32_000
"""Tokens that the provider double accepts: 60 raw pull requests are some 350,000."""

SOURCES = {"RAG_SOURCES": "docs/add-an-agent.md,docs/cli.md"}
"""A part of the bundled documents: embedding all of them would take most of the test's time."""

DOCUMENTS = "How do I add a sub-agent?"
PULLS = "List the open pull requests of octocat/hello-world"
BOTH = f"{DOCUMENTS} And list the open pull requests of octocat/hello-world"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all tests here: documents are embedded once."""
    return tmp_path_factory.mktemp("home")


@contextmanager
def model_settings(provider: str) -> Iterator[Mapping[str, str]]:
    """Settings for a provider; a real client talks to the strict double, which must refuse nothing."""
    if provider == "embedded":
        yield {}
        return
    embedder = create_embedder(EmbeddingSettings.load({}), cache=None)
    brain = RoutingBrain(create_chat_model(LLMSettings.load({}), embedder_factory=lambda: embedder))
    with run_strict_provider(brain, window=WINDOW) as double:
        yield {
            "LLM_PROVIDER": provider,
            "LLM_MODEL": "gpt-4o" if provider == "openai" else "anthropic.claude-3-5-sonnet-20240620-v1:0",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": double.openai_url,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": double.url,
        }
        assert double.requests
        assert not double.rejections


@asynccontextmanager
async def house(home: Path, settings: Mapping[str, str], github_url: str) -> AsyncIterator[tuple[str, str]]:
    """The supervisor and both agents; yields the URLs of supervisor and GitHub agent."""
    environ = {**settings, **SOURCES, "PLATFORM_ENGINEER_HOME": str(home), "GITHUB_API_URL": github_url}
    async with AsyncExitStack() as stack:
        github = await stack.enter_async_context(running_agent(GitHubAgent, environ=environ, home=home))
        rag = await stack.enter_async_context(running_agent(RagAgent, environ=environ, home=home))
        await until_ready(rag)
        environ["SUB_AGENTS"] = f"github={github},rag={rag}"
        environ["SUB_AGENTS_SHARES"] = "github=results,rag=results"
        url = await stack.enter_async_context(running_agent(PlatformEngineer, environ=environ, home=home))
        await until_ready(url)
        yield url, github


@pytest.fixture
def aws_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "none")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "none")


@pytest.mark.parametrize(
    "provider", ["embedded", "openai", pytest.param("aws-bedrock", marks=pytest.mark.long)]
)
async def test_documents_and_github_alone_and_together(provider: str, home: Path, aws_keys: None) -> None:
    with run_github_server(pulls=60) as github, model_settings(provider) as settings:
        async with house(home, settings, github.url) as (url, _), connected(url) as client:
            documents, pulls, both = await asyncio.gather(
                ask(client, DOCUMENTS), ask(client, PULLS), ask(client, BOTH)
            )
    for answer in (documents, pulls, both):
        assert answer.state == "completed"
    assert_answers_from_documents(documents)
    assert_answers_with_all_pulls(pulls)
    assert_answers_from_documents(both)
    assert_answers_with_all_pulls(both)
    final = {step["agent"]: step for step in both.plans[-1]}
    assert {name: step["status"] for name, step in final.items()} == {
        "rag": "completed",
        "github": "completed",
    }
    assert len({step["order"] for step in final.values()}) == 1  # in parallel


def assert_answers_from_documents(answer: Answer) -> None:
    assert "docs/add-an-agent.md" in answer.text
    assert "BaseLangGraphAgent" in answer.text


def assert_answers_with_all_pulls(answer: Answer) -> None:
    rows = [line for line in answer.text.splitlines() if line.startswith("|") and "new-topic-" in line]
    assert len(rows) == 60
    assert "Amazing new feature 71" in answer.text


async def test_a_follow_up_goes_on_with_the_same_repository(home: Path) -> None:
    with run_github_server(pulls=10) as github:
        async with house(home, {}, github.url) as (url, _), connected(url) as client:
            first = await ask(client, PULLS)
            second = await ask(client, "and the closed ones?", context_id=first.context_id)
        asked = [f"{request.path}?{request.query}" for request in github.recorder.requests]
    assert second.state == "completed"
    assert any("state=closed" in each and "octocat/hello-world/pulls" in each for each in asked)


@pytest.mark.long
async def test_a_github_that_is_down_fails_the_task_with_a_code_and_a_sentence(home: Path) -> None:
    listener = loopback_socket()
    dead = f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.close()
    async with (
        house(home, {}, dead) as (url, github_url),
        connected(url) as client,
        connected(github_url) as github,
    ):
        through = await ask(client, PULLS)
        direct = await ask(github, PULLS)
    for answer in (through, direct):
        assert answer.state == "failed"
        assert answer.metadata(ERROR_EXTENSION)[-1]["code"] == "upstream_unavailable"
        assert answer.last_words.startswith("GitHub cannot be reached")


async def test_one_agent_alone_can_be_chatted_with(home: Path) -> None:
    async with running_agent(RagAgent, environ=SOURCES, home=home) as url:
        await until_ready(url)
        async with connected(url) as client:
            answer = await ask(client, DOCUMENTS)
    assert_answers_from_documents(answer)


def notices(answer: Answer) -> list[str]:
    artifacts = [
        event.artifact_update.artifact for event in answer.events if event.HasField("artifact_update")
    ]
    return ["".join(part.text for part in each.parts) for each in artifacts if each.name == "notice"]


async def test_the_first_answer_says_that_it_is_the_offline_model_and_later_ones_do_not(
    home: Path,
) -> None:
    with run_github_server(pulls=2) as github:
        async with house(home, {}, github.url) as (url, _), connected(url) as client:
            first = await ask(client, DOCUMENTS)
            second = await ask(client, PULLS, context_id=first.context_id)
    (notice,) = notices(first)  # of the supervisor, not of each agent
    assert "offline model" in notice
    assert "LLM_PROVIDER" in notice
    assert notices(second) == []
