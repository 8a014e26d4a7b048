"""Names in a shared PostgreSQL database: each agent has a schema of its own, and channels that carry its name."""

from __future__ import annotations

from hashlib import sha256

LONGEST = 63
"""Bytes of a name; PostgreSQL truncates longer ones."""

LONGEST_QUEUE_NAME = 40
"""PostgreSQL takes 63 bytes for the name of a channel, of which Procrastinate uses 23."""

_DIGEST = 12


def schema_name(agent: str) -> str:
    """The schema of an agent. The prefix distinguishes it from PostgreSQL's own schemas."""
    return short_name(f"agent_{agent}")


def short_name(name: str, longest: int = LONGEST) -> str:
    """`name`, or if it is longer than `longest` bytes (by default PostgreSQL's limit), its beginning and a digest of it."""
    encoded = name.encode()
    if len(encoded) <= longest:
        return name
    digest = sha256(encoded).hexdigest()[:_DIGEST]
    kept = encoded[: longest - _DIGEST - 1].decode(errors="ignore")
    return f"{kept}_{digest}"


def lock_number(*parts: str) -> int:
    """The number of an advisory lock. Locks are shared by all schemas of a database, so include the schema in the parts if it matters."""
    return int.from_bytes(sha256("\0".join(parts).encode()).digest()[:8], signed=True)


def queue_name(schema: str) -> str:
    """The queue of an agent. It names the agent's schema: notifications belong to the whole database, job ids to a schema."""
    return short_name(f"turns:{schema}", LONGEST_QUEUE_NAME)


def hold_lock(schema: str, conversation: str) -> int:
    """The lock of whoever keeps turns of a conversation from beginning; `conversation` is its key in the table `runs`."""
    return lock_number(queue_name(schema), "rest", conversation)
