"""How far the renewal of what is stored has come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from utils.encryption.codec import Codec
from utils.encryption.errors import StorageUnreadable
from utils.errors import StorageError
from utils.persistence.encrypted.columns import Column
from utils.persistence.encrypted.renewal import Values, renewed

BATCH = 50
"""Rows that are read at once, and stored in one transaction: a checkpoint may take megabytes."""


@dataclass(slots=True)
class Tally:
    """Counts of values.

    Attributes:
        report: Called after each batch.
        total: All of them.
        seen: Those that were looked at.
        renewed: Those that were encrypted anew.
        unreadable: Table, column and key of those that cannot be read; they are left as they are.
        stopped: Set by whoever wants it to end after the batch that is under way.
    """

    report: Callable[[Tally], None] = lambda _: None
    total: int = 0
    seen: int = 0
    renewed: int = 0
    unreadable: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def add(self, batch: Batch) -> None:
        """Count a batch that is stored."""
        self.seen += batch.seen
        self.renewed += len(batch.changes)
        self.unreadable += batch.unreadable
        self.report(self)


@dataclass(frozen=True, slots=True)
class Batch:
    """The outcome of an encryption run for some rows.

    Attributes:
        seen: How many they are.
        changes: Key, old values and new values of those that change.
        unreadable: Names of those that cannot be read.
    """

    seen: int
    changes: Sequence[tuple[tuple[Any, ...], Values, Values]]
    unreadable: Sequence[str]


def selected(column: Column) -> str:
    """The columns to read of a row, as SQL."""
    return ", ".join((*column.key, *column.given, *column.values))


UNREADABLE = (
    "{names} cannot be read with the keys in ENCRYPTION_KEYS, so nothing more was moved. Put the missing key back behind the first one, or delete "
    "that conversation first."
)


def moved(codec: Codec, column: Column, rows: Sequence[Sequence[Any]], to: Mapping[str, str]) -> Batch:
    """The outcome for rows of `selected` whose keys are about to change.

    Raises:
        StorageError: One cannot be read: where its key came back later, it could not be read at another place.
    """
    batch = batch_of(codec, column, rows, to)
    if batch.unreadable:
        raise StorageError(UNREADABLE.format(names=", ".join(batch.unreadable[:3])))
    return batch


def batch_of(codec: Codec, column: Column, rows: Sequence[Sequence[Any]], to: Mapping[str, str]) -> Batch:
    """The outcome for rows of `selected`. Pure.

    Args:
        codec: The keys.
        column: The column.
        rows: The rows.
        to: Columns of the place that change, with their new values.
    """
    changes, unreadable = [], []
    keys, given = len(column.key), len(column.given)
    for row in rows:
        key, values = tuple(row[:keys]), tuple(row[keys + given :])
        known = dict(zip(column.given, map(str, row[keys : keys + given]), strict=True))
        place = column.place(*known.values())
        after = column.place(*({name: to.get(name, value) for name, value in known.items()}).values())
        try:
            new = renewed(codec, column.form, values, place, after)
        except (StorageUnreadable, ValueError):
            unreadable.append(
                f"{column.table or column.shared}.{column.values[-1]} {' '.join(map(str, key))}"
            )
        else:
            if new is not None:
                changes.append((key, values, new))
    return Batch(len(rows), changes, unreadable)
