"""What a stage hands on: the messages, and the texts that must be kept so that handles resolve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from langchain_core.messages import BaseMessage


@dataclass(frozen=True, slots=True)
class Changed:
    """Messages with the same ids in the same order as before, and artifacts by handle.

    Attributes:
        messages: The messages; untouched ones are the same objects.
        artifacts: Full texts behind handles that now stand in the messages.
        details: Sentences for the log, one for each notable change.
        failed: How many summariser calls failed and were replaced by an extract.
    """

    messages: list[BaseMessage]
    artifacts: Mapping[str, str] = field(default_factory=dict)
    details: tuple[str, ...] = ()
    failed: int = 0
