"""The names of the SQLite files in an agent's folder, in one place for all code that uses them."""

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
