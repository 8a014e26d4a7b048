"""One row of the table: a form on the wire, and what the user sees of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from utils.testing.strict.servers import Server
from utils.testing.strict_provider import Fault, FaultKind, Reply, Wire

Sent = str | Reply | Fault | FaultKind | Wire

LAST = "Done."
"""What the model says once the replies of a row are used up."""

NOTHING: Mapping[str, str] = MappingProxyType({})
HASTY = MappingProxyType({"LLM_TIMEOUT_SECONDS": "4", "LLM_STREAM_TIMEOUT_SECONDS": "4"})
LIMITED = MappingProxyType({"LLM_MAX_OUTPUT_TOKENS": "40"})


@dataclass(frozen=True)
class Row:
    """A form on the wire, and what the user sees of it.

    Attributes:
        name: What it is, and in which server's or project's tracker it was seen.
        server: Who sends it.
        replies: What the model's server answers, one a request; after them `LAST`.
        text: The answer in the end; not looked at if `None`.
        state: State of the task.
        code: Code of the error, or of what is missing of a completed task.
        sentence: A part of its sentence.
        wrote: What the agent's tool was called with.
        retried: Codes of the retries that are shown.
        requests: HTTP requests, where they matter.
        reasoned: The reasoning that is shown.
        replaced: Whether text was shown that is replaced in the end.
        settings: Settings of the agent.
    """

    name: str
    server: Server
    replies: Sequence[Sent]
    text: str | None = LAST
    state: str = "completed"
    code: str = ""
    sentence: str = ""
    wrote: Sequence[str] = ()
    retried: Sequence[str] = ()
    requests: int | None = None
    reasoned: str = ""
    replaced: bool = False
    settings: Mapping[str, str] = field(default_factory=lambda: NOTHING)

    def __str__(self) -> str:
        return f"{self.server.value}: {self.name}"
