"""The SQLite files of an agent's folder: who opens one, erases from it, hands it over or counts it means the same file."""

from __future__ import annotations

from enum import StrEnum


class StoreFile(StrEnum):
    """A file, by what it holds."""

    TASKS = "tasks.sqlite"
    RUNS = "runs.sqlite"
    CHECKPOINTS = "checkpoints.sqlite"
    TOOL_CALLS = "tool_calls.sqlite"
    ARTIFACTS = "artifacts.sqlite"
    CONTEXTS = "contexts.sqlite"
    DELEGATIONS = "errands.sqlite"  # the name that it has in existing folders, and in backups of them
    CARDS = "cards.sqlite"
    TITLES = "titles.sqlite"
    MEMORIES = "memories.sqlite"
    PUSH = "push.sqlite"
    CHANGES = "changes.sqlite"
    AUTHORISATIONS = "authorisations.sqlite"
