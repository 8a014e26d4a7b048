"""What an agent does about a message before its turn begins, while the one who sent it is there."""

from __future__ import annotations

from typing import Protocol

from utils.auth.principal import Principal


class Preparation(Protocol):
    """Is asked for each message that begins a turn, or goes on with one."""

    async def prepare(self, task_id: str, caller: Principal | None, credential: str) -> None:
        """Prepare the turn. It is submitted when this returns, and may run in another process.

        Args:
            task_id: The task.
            caller: Who sent the message; `None` where callers are not known.
            credential: What shows that, which nothing else holds any more; empty where there is none.
        """


class NoPreparation:
    """Nothing is needed."""

    async def prepare(self, task_id: str, caller: Principal | None, credential: str) -> None:
        """Do nothing."""
