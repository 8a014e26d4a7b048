"""The template agent."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import Field

from agents.template.settings import TemplateSettings
from utils.a2a_common import AgentRuntime, BaseLangGraphAgent, agent_tool
from utils.errors import UpstreamUnavailable
from utils.messages.results import Items

_PROMPT = """\
You answer from the entries that the tool `list_entries` returns, and from nothing else.

- Look before you answer, and pass on the `state` that the user asks for.
- Say how many there are, and name each with its state.
- When there are none, say so. Never guess.
"""

_EXAMPLES = (
    "List the template entries",
    "What is open in template?",
    "Show me everything that template has",
    "Which template entries are done?",
    "How many entries are there in template?",
)
"""Requests in users' words, shown on the card and with the tool: models choose by them."""


class TemplateAgent(BaseLangGraphAgent):
    """Answers questions about entries."""

    name = "template"
    description = "Lists the entries of template, with their state."

    def __init__(self, runtime: AgentRuntime) -> None:
        super().__init__(runtime)
        self._settings = TemplateSettings.load(runtime.environ)

    def system_prompt(self) -> str:
        """The instructions that the model receives at the start of every conversation."""
        return _PROMPT

    @agent_tool(examples=_EXAMPLES, read_only=True)
    def list_entries(
        self, state: Literal["open", "done", "all"] = "all", limit: Annotated[int, Field(ge=1, le=100)] = 20
    ) -> Items:
        """List entries with their state, newest first.

        Args:
            state: Only entries in this state.
            limit: Most entries to list.
        """
        try:
            entries = json.loads(self._settings.file.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise UpstreamUnavailable("The entries cannot be read right now.") from error
        found = [entry for entry in entries if state in ("all", entry["state"])]
        return Items(kind="entries", items=found[:limit], total=len(found))
