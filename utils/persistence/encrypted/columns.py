"""Every column that is encrypted, in the files of an agent's folder and in its schema: for what renews them and moves them.

A column that an encrypted store writes has to stand here, which a test holds.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import NamedTuple

from utils.encryption.codec import Place
from utils.persistence.encrypted import places
from utils.persistence.files import StoreFile


class Form(Enum):
    """How a column holds an encrypted value."""

    BYTES = "bytes"
    TEXT = "text"
    """As a text; an empty one is stored as it is."""
    LIST = "list"
    """As the only member of a list in JSON."""
    MAPPING = "mapping"
    """As the only value of a mapping in JSON."""
    TYPED = "typed"
    """As LangGraph's serializer has it, behind a column with its type."""
    CHANNELS = "channels"
    """As texts among the channels of a checkpoint in JSON."""
    BARE = "bare"
    """As Fernet has it, without a mark. What other keys wrote is not ours."""


class Column(NamedTuple):
    """An encrypted column.

    Attributes:
        file: The file; empty where only the schema has it.
        table: The table in that file.
        shared: The table in the schema; empty where only a file has it.
        key: Columns of the table's key, in its order.
        values: The column, behind that of its type where there is one.
        form: How it holds the value.
        given: Columns that the place is told by.
        place: The place, by their values as texts.
    """

    file: str
    table: str
    shared: str
    key: tuple[str, ...]
    values: tuple[str, ...]
    form: Form
    given: tuple[str, ...]
    place: Callable[..., Place]


def _event(task_id: str, sequence: str) -> Place:
    return places.event(task_id, int(sequence))


def _nowhere(*_: str) -> Place:
    return ("",)


def _one(name: str, shared: str, key: str, value: str, form: Form) -> Callable[..., Column]:
    """A column in a file named like its table in it."""
    file, _, table = name.partition(".")
    keys = tuple(key.split())
    return lambda place, given=key: Column(
        f"{file}.sqlite", table, shared, keys, tuple(value.split()), form, tuple(given.split()), place
    )


_CHECKPOINT = "thread_id checkpoint_ns checkpoint_id"
_WRITE = f"{_CHECKPOINT} task_id idx"
_BLOB = "thread_id checkpoint_ns channel version"
_THREAD = ("thread_id",)


def _checkpoint(table: str, shared: str, key: str, values: str, form: Form = Form.TYPED) -> Column:
    file = StoreFile.CHECKPOINTS if table else ""
    return Column(
        file, table, shared, tuple(key.split()), tuple(values.split()), form, _THREAD, places.checkpoint
    )


COLUMNS: tuple[Column, ...] = (
    _one("tasks.tasks", "tasks", "id", "body", Form.BYTES)(places.head, "id owner"),
    _one("tasks.task_events", "task_events", "task_id sequence", "body", Form.BYTES)(_event),
    _one("runs.runs", "runs", "task_id", "body", Form.BYTES)(places.run, "task_id owner conversation"),
    _one("tool_calls.tool_calls", "tool_calls", "task_id step call_id", "outcome", Form.BYTES)(
        places.outcome
    ),
    *(
        _one("errands.errands", "delegations", "id", column, form)(
            partial(places.delegation, column), "id thread_id agent"
        )
        for column, form in (("request", Form.TEXT), ("questions", Form.LIST), ("counted", Form.MAPPING))
    ),
    _one("titles.titles", "titles", "owner context_id", "title", Form.TEXT)(places.title),
    _one("memories.memories", "memories", "owner kind id", "body", Form.BYTES)(places.memory),
    _one("artifacts.artifacts", "artifacts", "scope handle", "text", Form.TEXT)(places.artifact),
    _one("push.push_configs", "push_configs", "owner task_id id", "body", Form.BYTES)(places.webhook),
    _one("changes.changes", "changes", "key", "what", Form.TEXT)(places.change, "key thread_id"),
    _one("changes.changes", "changes", "key", "link", Form.TEXT)(places.link),
    _checkpoint("checkpoints", "", _CHECKPOINT, "type checkpoint"),
    _checkpoint("writes", "", _WRITE, "type value"),
    _checkpoint("", "checkpoint_blobs", _BLOB, "type blob"),
    _checkpoint("", "checkpoint_writes", _WRITE, "type blob"),
    _checkpoint("", "checkpoints", _CHECKPOINT, "checkpoint", Form.CHANNELS),
    _one(
        "checkpoints.conversation_messages", "conversation_messages", "thread_id digest", "body", Form.BYTES
    )(places.message),
    _one("authorisations.authorisations", "github_authorisations", "owner", "body", Form.BARE)(_nowhere),
    _one("authorisations.sign_ins", "github_sign_ins", "call", "body", Form.BARE)(_nowhere),
)
