"""What an agent is given to work with: one frozen bundle, made by whoever starts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from utils.embeddings import Embedder


@dataclass(frozen=True, slots=True)
class AgentRuntime:
    """The services around one agent.

    Attributes:
        home: The agent's own folder for databases and indexes.
        environ: Settings by variable name; what `EnvSettings.load` is given.
        model: The chat model.
        checkpointer: Where conversations are kept.
        embedder: The embedding model, or `None` for lexical search only.
        notice: What the first answer of a conversation says about the model; empty for real models.
    """

    home: Path
    environ: Mapping[str, str]
    model: BaseChatModel
    checkpointer: BaseCheckpointSaver[str]
    embedder: Embedder | None = None
    notice: str = ""
