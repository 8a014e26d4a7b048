"""Whether the keys of this process read what the other replicas store: they may have been given others while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from utils.encryption.errors import KeysOutdated
from utils.persistence.encrypted.check import NAME

if TYPE_CHECKING:
    from utils.encryption.codec import Codec
    from utils.persistence.postgres.pool import PostgresPool

log = structlog.get_logger(__name__)

OUTDATED = (
    "Another replica of this agent encrypts what it stores in DATABASE_URL with a key that ENCRYPTION_KEYS of this process does not "
    "have. Start this process again with the keys of that one. Until then it takes no turns; the other replica does."
)


class SharedKeys:
    """Compares the keys of this process with the check that each replica leaves when it starts, before it stores anything.

    Args:
        codec: The keys of this process.
        database: What the replicas share.

    Attributes:
        problem: Why this process takes no turns, for an operator, as of the last look; empty if it does.
    """

    def __init__(self, codec: Codec, database: PostgresPool) -> None:
        self._codec = codec
        self._database = database
        self.problem = ""

    async def fit(self) -> bool:
        """Whether this process can read all that the replicas store from now.

        Raises:
            StorageError: The database failed.
        """
        from utils.persistence.postgres.secrets import known_secret

        stored = await known_secret(self._database, NAME)
        problem = "" if stored is None or self._codec.reads(stored) else OUTDATED
        if problem != self.problem:
            self.problem = problem
            if problem:
                log.error("storage.keys_outdated", effect="this process takes no turns")
            else:
                log.info("storage.keys_fit")
        return not problem

    async def check(self) -> None:
        """Do nothing if it can.

        Raises:
            KeysOutdated: It cannot.
            StorageError: The database failed.
        """
        if not await self.fit():
            raise KeysOutdated(for_operator=OUTDATED)
