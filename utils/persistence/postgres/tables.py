"""The tables of an agent's schema: what the migrations add up to, which a test compares.

Keys are compared byte by byte (collation "C"), so that an index outlives an update of the system's collations. Texts
that may hold any character are stored as UTF-8 in `bytea`, since PostgreSQL's own type has no zero byte.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Double,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    func,
    text,
)

METADATA = MetaData()

_Key = Text(collation="C")


def _key(name: str, *, primary: bool = False) -> Column[str]:
    return Column(name, _Key, primary_key=primary, nullable=False)


TASKS = Table(
    "tasks",
    METADATA,
    _key("id", primary=True),
    _key("owner"),
    _key("context_id"),
    Column("state", SmallInteger, nullable=False),
    Column("updated", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Index("tasks_by_time", "owner", "updated", "id"),
    Index("tasks_by_context", "owner", "context_id", "updated", "id"),
    Index("tasks_by_state", "state", "owner", "updated", "id"),
)

TASK_EVENTS = Table(
    "task_events",
    METADATA,
    _key("task_id", primary=True),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", SmallInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

TASK_ATTEMPTS = Table(
    "task_attempts",
    METADATA,
    _key("task_id", primary=True),
    _key("owner"),
    # no number comes twice, so that an old attempt is fenced off even from a task that was deleted and began again
    Column("attempt", BigInteger, Identity(), nullable=False),
)

RUNS = Table(
    "runs",
    METADATA,
    _key("task_id", primary=True),
    Column("number", BigInteger, Identity(), nullable=False),
    _key("conversation"),
    _key("owner"),
    Column("body", LargeBinary, nullable=False),
    Column("writer", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
)

TOOL_CALLS = Table(
    "tool_calls",
    METADATA,
    _key("task_id", primary=True),
    _key("step", primary=True),
    _key("call_id", primary=True),
    Column("outcome", LargeBinary),
)

REMOTE_CONTEXTS = Table(
    "remote_contexts",
    METADATA,
    _key("thread_id", primary=True),
    _key("agent", primary=True),
    _key("context_id"),
)

CLEARED_THREADS = Table(
    "cleared_threads",
    METADATA,
    _key("thread_id", primary=True),
    Column("times", Integer, nullable=False),
)

THREAD_PEOPLE = Table(
    "thread_people",
    METADATA,
    _key("thread_id", primary=True),
    _key("person"),
    _key("tenant"),
)

DELEGATIONS = Table(
    "delegations",
    METADATA,
    _key("id", primary=True),
    Column("number", BigInteger, Identity(), nullable=False),
    _key("parent_task_id"),
    _key("thread_id"),
    _key("agent"),
    _key("call_id"),
    _key("step"),
    Column("request", LargeBinary, nullable=False),
    _key("context_id"),
    _key("task_id"),
    Column("sent", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("questions", LargeBinary, nullable=False),
    Column("counted", LargeBinary, nullable=False),
    Index("delegations_by_parent", "parent_task_id", "number"),
    Index("delegations_by_thread", "thread_id", "agent", "state"),
    Index("delegations_by_agent", "agent", "state"),
)

PUSH_CONFIGS = Table(
    "push_configs",
    METADATA,
    _key("owner", primary=True),
    _key("task_id", primary=True),
    _key("id", primary=True),
    Column("body", LargeBinary, nullable=False),
    Column("sent", BigInteger),
)

ARTIFACTS = Table(
    "artifacts",
    METADATA,
    _key("scope", primary=True),
    _key("handle", primary=True),
    Column("text", LargeBinary, nullable=False),
    Column("created", DateTime(timezone=True), server_default=func.now(), nullable=False),
)

AGENT_CARDS = Table(
    "agent_cards",
    METADATA,
    _key("url", primary=True),
    Column("card", LargeBinary, nullable=False),
)

SECRETS = Table(
    "secrets",
    METADATA,
    _key("name", primary=True),
    Column("value", LargeBinary, nullable=False),
)

CHANGES = Table(
    "changes",
    METADATA,
    _key("key", primary=True),
    Column("number", BigInteger, Identity(), nullable=False),
    _key("thread_id"),
    _key("task_id"),
    _key("digest"),
    Column("what", LargeBinary, nullable=False),
    Column("state", Text, nullable=False),
    Column("link", Text, server_default=text("''"), nullable=False),
    Column("told", Boolean, server_default=text("false"), nullable=False),
    Column("changed", DateTime(timezone=True), server_default=func.now(), nullable=False),
    Index("changes_by_digest", "digest", "state"),
    Index("changes_by_thread", "thread_id", "state", "told"),
)

GITHUB_AUTHORISATIONS = Table(
    "github_authorisations",
    METADATA,
    _key("owner", primary=True),
    Column("body", LargeBinary, nullable=False),
)

GITHUB_SIGN_INS = Table(
    "github_sign_ins",
    METADATA,
    _key("call", primary=True),
    _key("thread_id"),
    Column("asked", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Index("github_sign_ins_by_thread", "thread_id"),
)

TITLES = Table(
    "titles",
    METADATA,
    _key("owner", primary=True),
    _key("context_id", primary=True),
    Column("title", Text, nullable=False),
)

USED_TOKENS = Table(
    "used_tokens",
    METADATA,
    _key("id", primary=True),
    Column("use", Text, nullable=False),
    Column("until", DateTime(timezone=True), nullable=False),
    Index("used_tokens_by_end", "until"),
)

MEMORIES = Table(
    "memories",
    METADATA,
    _key("owner", primary=True),
    _key("kind", primary=True),
    _key("id", primary=True),
    Column("body", LargeBinary, nullable=False),
    Column("created", Double, nullable=False),
    Column("updated", Double, nullable=False),
)

MEMORY_SOURCES = Table(
    "memory_sources",
    METADATA,
    _key("thread_id", primary=True),
    _key("owner", primary=True),
    _key("kind", primary=True),
    _key("id", primary=True),
    Index("memory_sources_by_memory", "owner", "kind", "id"),
)

CONVERSATION_MESSAGES = Table(
    "conversation_messages",
    METADATA,
    _key("thread_id", primary=True),
    _key("digest", primary=True),
    Column("body", LargeBinary, nullable=False),
)
