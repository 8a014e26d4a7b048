"""`AgentRuntime`: the services that an agent is given, frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from utils.a2a_common.graph.settings import AgentSettings
    from utils.embeddings import Embedder


@dataclass(frozen=True, slots=True)
class AgentRuntime:
    """The services around one agent.

    Attributes:
        home: The agent's own folder for databases and indexes.
        settings: The settings that every agent has, parsed once.
        model: The chat model.
        checkpointer: Stores conversations.
        embedder: The embedding model, or `None` for lexical search only.
        notice: What the first answer of a conversation says about the model; empty for real models.
    """

    home: Path
    settings: AgentSettings
    model: BaseChatModel
    checkpointer: BaseCheckpointSaver[str]
    embedder: Embedder | None = None
    notice: str = ""

    @property
    def environ(self) -> Mapping[str, str]:
        """The process's variables, for an agent's own settings: `MySettings.load(runtime.environ)` in its constructor."""
        return self.settings.environ
