"""The template agent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agents.template.settings import TemplateSettings
from agents.template.tools import EXAMPLES, list_entries
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.protocol.skill import Skill

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

_PROMPT = Path(__file__).parent / "prompts" / "system.md"


class TemplateAgent(BaseLangGraphAgent):
    """Answers questions about entries."""

    name = "template"
    description = "Lists the entries of template, with their state."
    skills = (
        Skill(
            id="list_entries",
            name="List template entries",
            description="Lists open and done entries of template.",
            examples=EXAMPLES,
        ),
    )

    def __init__(self, runtime: AgentRuntime) -> None:
        super().__init__(runtime)
        self._settings = TemplateSettings.load(runtime.environ)

    def system_prompt(self) -> str:
        """The text of `prompts/system.md`."""
        return _PROMPT.read_text("utf-8")

    async def tools(self) -> Sequence[BaseTool]:
        """One tool. Open connections in `start` and close them in `stop`."""
        return [list_entries(self._settings.file)]
