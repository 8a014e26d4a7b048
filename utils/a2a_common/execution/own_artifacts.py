"""Publishes an agent's own artifacts within the client's output modes and the limits of a task."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog

from utils.a2a_common.execution.artifact_encoding import (
    RESERVED,
    accepted_parts,
    artifact_named,
    in_chunks,
    listed,
    prepared,
)
from utils.a2a_common.protocol.artifact_limits import MOST_ARTIFACTS, MOST_BYTES
from utils.a2a_common.protocol.extensions import ARTIFACT_EXTENSION, RESPONSE_ARTIFACT
from utils.a2a_common.protocol.media_modes import Accepted
from utils.events import ArtifactAdded, FileBytes, FileUrl

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Artifact


log = structlog.get_logger(__name__)


class OwnArtifacts:
    """Publishes the artifacts that an agent adds to one task.

    Args:
        publish: Takes each chunk, with `append` and `last`.
        accepted: What the client accepts.
        known: Artifacts that earlier turns of the task published; their heads are enough.

    Attributes:
        left_out: A sentence for each part or artifact that was not published.
    """

    def __init__(
        self, publish: Callable[..., Awaitable[None]], accepted: Accepted, known: Iterable[Artifact] = ()
    ) -> None:
        self._publish = publish
        self._accepted = accepted
        earlier = [(each, _fact(each)) for each in known if each.artifact_id not in RESERVED]
        self._known = {each.artifact_id: (fact.size, fact.digest) for each, fact in earlier}
        self._passed_on = {
            each.artifact_id: f"`{each.name}`, from {fact.origin}"
            for each, fact in earlier
            if fact.origin and each.name != RESPONSE_ARTIFACT
        }
        self.left_out: list[str] = []

    @property
    def published(self) -> bool:
        """Whether the task has an artifact of the agent's own."""
        return bool(self._known)

    @property
    def passed_on(self) -> str:
        """The files of sub-agents that the task has, as a list; empty for none."""
        lines = [f"- {line}" for line in self._passed_on.values()]
        return "\n".join(["Files:", "", *lines]) if lines else ""

    async def publish(self, event: ArtifactAdded) -> None:
        """Publish an artifact; what the client does not accept, and what goes beyond the limits, is left out.

        Raises:
            ValueError: It has no parts, the id of the answer or the plan, or a value that JSON cannot express.
        """
        parts, refused = accepted_parts(event.parts, self._accepted)
        self.left_out += refused
        if not parts and event.parts:
            return
        ready = prepared(replace(event, parts=parts))
        artifact_id = ready.artifact.artifact_id
        size, digest = self._known.get(artifact_id, (0, ""))
        if digest == ready.digest:
            self._name(event, artifact_id)
            return  # it is there already: a tool or a turn ran again
        if why := self._beyond(artifact_id, ready.size - size):
            log.warning("artifact.left_out", size=ready.size, origin=event.origin, reason=why)
            self.left_out.append(f"{artifact_named(event)} was not returned: {why}")
            return
        self._known[artifact_id] = (ready.size, ready.digest)
        self._name(event, artifact_id)
        chunks = list(in_chunks(ready.artifact))
        for number, chunk in enumerate(chunks, start=1):
            await self._publish(chunk, append=number > 1, last=number == len(chunks))

    def _name(self, event: ArtifactAdded, artifact_id: str) -> None:
        """Note the sentence of the answer about a sub-agent's artifact; an artifact that is an answer itself needs none."""
        if event.origin and event.name != RESPONSE_ARTIFACT:
            files = [part for part in event.parts if isinstance(part, FileBytes | FileUrl)]
            lines = [listed(file, event.origin) for file in files]
            self._passed_on[artifact_id] = ", ".join(lines) or f"{artifact_named(event)}, from {event.origin}"

    def _beyond(self, artifact_id: str, more: int) -> str:
        if artifact_id not in self._known and len(self._known) >= MOST_ARTIFACTS:
            return f"a task has at most {MOST_ARTIFACTS} artifacts."
        if sum(size for size, _ in self._known.values()) + more > MOST_BYTES:
            return f"the artifacts of a task have at most {MOST_BYTES:,} bytes together."
        return ""


class _Fact(NamedTuple):
    """A fact from the metadata of a published artifact."""

    size: int = 0
    digest: str = ""
    origin: str = ""


def _fact(artifact: Artifact) -> _Fact:
    from google.protobuf import json_format

    metadata: Mapping[str, Any] = json_format.MessageToDict(artifact.metadata)
    fact = metadata.get(ARTIFACT_EXTENSION)
    if not isinstance(fact, Mapping):
        return _Fact()
    return _Fact(int(fact.get("bytes", 0)), str(fact.get("digest", "")), str(fact.get("origin", "")))
