"""Where the service of a run keeps its state."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

STORES = ("sqlite", "postgresql")


@contextmanager
def stored_in(store: str) -> Iterator[None]:
    """Let the service keep its state there: the processes inherit the setting. PostgreSQL is a server of its own."""
    if store == "sqlite":
        yield
        return
    from tests.postgres import running_server

    with running_server() as server:
        before = os.environ.get("DATABASE_URL")
        os.environ["DATABASE_URL"] = server.new_database()
        try:
            yield
        finally:
            del os.environ["DATABASE_URL"]
            if before is not None:
                os.environ["DATABASE_URL"] = before
