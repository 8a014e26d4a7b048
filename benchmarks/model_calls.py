"""How many model calls a request costs, and how many input tokens: `python -m benchmarks.model_calls`.

The service of a checkout, with its agents, asks a double of OpenAI's API behind which the embedded model decides; the GitHub agent asks a
double of GitHub. Counted is what the double got, by its own count of tokens. Another checkout, such as a git worktree
with a `.venv` of its own: `python -m benchmarks.model_calls FOLDER`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from agents.github.testing.server import run_github_server
from tests.ports import free_port
from utils.embeddings import Embedder, create_embedder
from utils.llm.factory import create_chat_model
from utils.settings import EmbeddingSettings, LLMSettings
from utils.testing.strict_provider import RoutingBrain, StrictProvider, run_strict_provider

QUESTIONS = (
    "List the open pull requests of octocat/hello-world",
    "How do I add a sub-agent?",
)


def _brain() -> RoutingBrain:
    def embedder() -> Embedder | None:
        return create_embedder(EmbeddingSettings.load({}), cache=None)

    return RoutingBrain(create_chat_model(LLMSettings.load({}), embedder_factory=embedder))


async def _ask(checkout: Path, question: str, settings: Mapping[str, str]) -> str:
    """The answer of `chat --ask` in a checkout, started for this one question.

    Raises:
        AssertionError: There was none.
    """
    with tempfile.TemporaryDirectory() as home:
        process = await asyncio.create_subprocess_exec(
            *(checkout / ".venv" / "bin" / "python", "-m", "multi_agents.cli", "chat", "--ask", question),
            cwd=checkout,
            env={**os.environ, **settings, "PLATFORM_ENGINEER_HOME": home, "PORT": str(free_port())},
            stdout=asyncio.subprocess.PIPE,
        )
        answer, _ = await process.communicate()
    assert process.returncode == 0, answer.decode()
    assert answer.strip()
    return answer.decode()


async def _measure(checkout: Path, provider: StrictProvider, settings: Mapping[str, str]) -> None:
    for question in QUESTIONS:
        provider.requests.clear()
        answer = await _ask(checkout, question, settings)
        sizes = [request.tokens for request in provider.requests]
        said = [line for line in answer.splitlines() if line.strip()]
        print(
            f"{question!r}: {len(sizes)} model calls, {sum(sizes):,} input tokens ({' + '.join(map(str, sizes))})"
        )
        print(f"  answered with {len(said)} lines, the first: {said[0][:100]!r}")


def run(checkout: Path | None = None) -> None:
    """Ask each question once at a service that is started for it, and print what it cost."""
    with run_github_server() as github, run_strict_provider(_brain()) as provider:
        settings = {
            **provider.environment("openai"),
            "LLM_PROVIDER": "openai",
            "GITHUB_API_URL": github.url,
            "RAG_READY_SECONDS": "600",
        }
        asyncio.run(_measure(checkout or Path(__file__).resolve().parent.parent, provider, settings))
        if provider.rejections:
            print(f"  refused: {provider.rejections[:3]}")


if __name__ == "__main__":
    run(Path(sys.argv[1]).resolve() if sys.argv[1:] else None)
