"""The GitHub agent: tools and a prompt on `BaseLangGraphAgent`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agents.github.client import GitHubClient
from agents.github.settings import GitHubSettings
from agents.github.tools import SPECS, build_tools
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.runtime import AgentRuntime
from utils.a2a_common.skill import Skill

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

_PROMPT = Path(__file__).parent / "prompts" / "system.md"


class GitHubAgent(BaseLangGraphAgent):
    """Answers questions about what is on GitHub. Reads only."""

    name = "github"
    description = (
        "Reads GitHub: repositories, pull requests, issues, commits, files, code, releases, and GitHub Actions "
        "runs with their logs."
    )
    skills = tuple(
        Skill(
            id=spec.name,
            name=spec.name.replace("_", " ").capitalize(),
            description=spec.description,
            examples=spec.examples,
            tags=("github",),
        )
        for spec in SPECS
    )

    def __init__(self, runtime: AgentRuntime) -> None:
        super().__init__(runtime)
        self._github = GitHubClient(GitHubSettings.load(runtime.environ))

    def system_prompt(self) -> str:
        """The text of `prompts/system.md`."""
        return _PROMPT.read_text(encoding="utf-8")

    async def tools(self) -> Sequence[BaseTool]:
        """All tools, on one client."""
        return build_tools(self._github)

    async def stop(self) -> None:
        """Close the connections to GitHub."""
        await self._github.stop()
