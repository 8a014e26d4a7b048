"""The questions of a set and what came of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True, slots=True)
class Question:
    """One entry of a set. `turns` are what the user says, one after the other in one conversation."""

    id: str
    kind: str
    turns: tuple[str, ...]
    wants: str
    agent: str
    keys: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a sub-agent's tool, its arguments as the activity shows them."""

    agent: str
    tool: str
    arguments: str
    status: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one turn.

    Attributes:
        said: The user's words.
        agents: Each agent that was asked, and the words that it was asked with.
        calls: The calls of the agents' tools.
        state: The state that the task ended in.
        exit_code: What `chat --ask` ends with.
        answer: The answer, or the question or failure in its place.
        sources: The places of documents that the answer names.
        sent: Requests that reached GitHub.
    """

    said: str
    agents: tuple[tuple[str, str], ...]
    calls: tuple[ToolCall, ...]
    state: str
    exit_code: int
    answer: str
    sources: tuple[str, ...]
    sent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """A question with the replies to its turns."""

    question: Question
    replies: tuple[Reply, ...]

    @property
    def last(self) -> Reply:
        """The reply that is judged."""
        return self.replies[-1]

    def as_row(self) -> dict[str, Any]:
        """For the file that a judge reads."""
        asked = self.question
        row = {"id": asked.id, "kind": asked.kind, "wants": asked.wants, "agent": asked.agent}
        return row | {"replies": [_plain(asdict(reply)) for reply in self.replies]}


def read_set(path: Path) -> list[Question]:
    """The questions of a file.

    Raises:
        KeyError: An entry lacks a field.
    """
    return [_question(entry) for entry in yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)]


def _question(entry: Mapping[str, Any]) -> Question:
    said: Sequence[str] = entry["turns"] if "turns" in entry else [entry["question"]]
    own = {"id", "kind", "turns", "question", "wants", "agent"}
    keys = {name: value for name, value in entry.items() if name not in own}
    return Question(
        str(entry["id"]), entry["kind"], tuple(map(str, said)), str(entry["wants"]), str(entry["agent"]), keys
    )


def _plain(value: Any) -> Any:
    """Tuples as lists, which YAML writes without tags."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
