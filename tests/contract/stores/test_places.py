"""An encrypted value is of use in its own row alone: who may write to the storage cannot show it to somebody else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import pytest
from cryptography.fernet import Fernet

from tests.contract.stores.told import (
    Place,
    Told,
    all_told,
    artifact,
    assert_bob_is_read,
    delegation,
    done,
    events,
    listed,
    look,
    memories,
    memory,
    outcome,
    run,
    title,
    untold,
    webhooks,
)
from tests.contract.stores.unbound import Unbound
from tests.postgres import PARAMETER
from utils.encryption.codec import Codec
from utils.encryption.errors import StorageMisplaced
from utils.persistence.runs import LOST as LOST_TURN
from utils.persistence.task_log_store import LOST

KEY = Fernet.generate_key().decode()


class Theft(NamedTuple):
    """A change of the storage by which Bob shall be shown what Ann said.

    Attributes:
        file: The file.
        names: The table, there and in PostgreSQL.
        statement: The change.
        reading: What Bob is shown then.
        instead: What that is where nothing is refused and nothing of Ann's is shown.
    """

    file: str
    names: tuple[str, str]
    statement: str
    reading: Callable[[Told], Awaitable[Any]]
    instead: Any = None


def copied(column: str, key: str, suffix: str = "") -> str:
    """Put Ann's value into Bob's row."""
    anns = f"(SELECT {column} FROM {{table}} WHERE {key} = 'ann{suffix}')"
    return f"UPDATE {{table}} SET {column} = {anns} WHERE {key} = 'bob{suffix}'"


def given(column: str) -> str:
    """Say of Ann's row that it is Bob's, in the place of his own."""
    return f"UPDATE {{table}} SET {column} = 'bob' WHERE {column} = 'ann'"


def gone(column: str) -> str:
    return f"DELETE FROM {{table}} WHERE {column} = 'bob'"


TASKS, EVENTS, RUNS = ("tasks", "tasks"), ("task_events", "task_events"), ("runs", "runs")
CHANGES, ERRANDS, TITLES = ("changes", "changes"), ("errands", "delegations"), ("titles", "titles")
CALLS, ARTIFACTS, PUSH = (
    ("tool_calls", "tool_calls"),
    ("artifacts", "artifacts"),
    ("push_configs", "push_configs"),
)
MEMORIES = ("memories", "memories")
CHECKPOINTS = ("checkpoints", "checkpoints")

THEFTS = {
    "a task": (Theft("tasks", TASKS, copied("body", "id"), look),),
    "a task in a list": (Theft("tasks", TASKS, copied("body", "id"), listed, LOST),),
    "a task with its owner": (
        Theft("tasks", TASKS, gone("id"), look),
        Theft("tasks", TASKS, "UPDATE {table} SET owner = 'bob' WHERE id = 'ann'", listed, LOST),
    ),
    "an event": (Theft("tasks", EVENTS, copied("body", "task_id"), events),),
    "all events": (
        Theft("tasks", EVENTS, gone("task_id"), events),
        Theft("tasks", EVENTS, given("task_id"), events),
    ),
    "a turn": (Theft("runs", RUNS, copied("body", "task_id"), run, LOST_TURN.decode("latin-1")),),
    "an outcome": (Theft("tool_calls", CALLS, copied("outcome", "task_id"), outcome),),
    "a request": (Theft("errands", ERRANDS, copied("request", "id"), delegation),),
    "a question": (Theft("errands", ERRANDS, copied("questions", "id"), delegation),),
    "a usage": (Theft("errands", ERRANDS, copied("counted", "id"), delegation),),
    "a delegation": (
        Theft("errands", ERRANDS, gone("id"), delegation),
        Theft("errands", ERRANDS, given("thread_id"), delegation),
    ),
    "a delegation to another agent": (
        Theft("errands", ERRANDS, "UPDATE {table} SET agent = 'b'", delegation),
    ),
    "a title": (Theft("titles", TITLES, copied("title", "owner"), title, ""),),
    "a memory": (Theft("memories", MEMORIES, copied("body", "owner"), memory),),
    "a memory in a list": (Theft("memories", MEMORIES, copied("body", "owner"), memories, [""]),),
    "a text": (Theft("artifacts", ARTIFACTS, copied("text", "scope"), artifact),),
    "a webhook": (Theft("push", PUSH, copied("body", "owner"), webhooks, set()),),
    "a change": (Theft("changes", CHANGES, copied("what", "key"), untold),),
    "a change with its conversation": (
        Theft("changes", CHANGES, gone("thread_id"), untold),
        Theft("changes", CHANGES, given("thread_id"), untold),
    ),
    "a link": (Theft("changes", CHANGES, copied("link", "key", "-done"), done),),
}


@pytest.mark.slow
@pytest.mark.parametrize("thefts", THEFTS.values(), ids=THEFTS)
async def test_what_is_moved_in_the_storage_is_refused(storage: Place, thefts: tuple[Theft, ...]) -> None:
    await all_told(storage, Codec([KEY]))
    for theft in thefts:
        await storage.change(theft.file, theft.names, theft.statement)
    async with Told(storage, Codec([KEY])) as told:
        if thefts[-1].instead is None:
            with pytest.raises(StorageMisplaced) as caught:
                await thefts[-1].reading(told)
            assert (caught.value.code, caught.value.retryable) == ("storage_misplaced", False)
        else:
            assert await thefts[-1].reading(told) == thefts[-1].instead


STEPS = (CHECKPOINTS, ("", "checkpoint_writes"), ("", "checkpoint_blobs"))
"""Where the steps of a conversation are, without its messages; a file keeps no writes of a turn that ended."""
MESSAGES = ("conversation_messages", "conversation_messages")


@pytest.mark.parametrize("copied_tables", [STEPS, (*STEPS, MESSAGES)], ids=["its steps", "all of it"])
async def test_a_conversation_that_is_copied_from_somebody_else_is_refused(
    storage: Place, copied_tables: tuple[tuple[str, str], ...]
) -> None:
    await all_told(storage, Codec([KEY]))
    for names in copied_tables:
        if storage.pool is not None or names[0]:
            await storage.change("checkpoints", names, gone("thread_id"))
            await storage.change("checkpoints", names, given("thread_id"))
    async with Told(storage, Codec([KEY])) as told:
        with pytest.raises(StorageMisplaced):
            await told.said("bob")


async def test_a_message_that_is_copied_from_somebody_else_is_refused(storage: Place) -> None:
    await all_told(storage, Codec([KEY]))
    anns = "(SELECT body FROM {table} AS other WHERE thread_id = 'ann' AND digest <> '' LIMIT 1)"
    await storage.change(
        "checkpoints",
        MESSAGES,
        f"UPDATE {{table}} SET body = {anns} WHERE thread_id = 'bob' AND digest <> ''",
    )
    async with Told(storage, Codec([KEY])) as told:
        with pytest.raises(StorageMisplaced):
            await told.said("bob")


@pytest.mark.parametrize("storage", [PARAMETER], indirect=True)  # a file has all channels in one value
async def test_a_text_among_the_channels_is_bound_in_postgresql_as_well(storage: Place) -> None:
    await all_told(storage, Codec([KEY]))
    anns = "(SELECT checkpoint->'channel_values' FROM {table} WHERE thread_id = 'ann' ORDER BY checkpoint_id DESC LIMIT 1)"
    put = f"jsonb_set(checkpoint, '{{{{channel_values}}}}', {anns})"
    statement = f"UPDATE {{table}} SET checkpoint = {put} WHERE thread_id = 'bob'"
    await storage.change("", CHECKPOINTS, statement)
    async with Told(storage, Codec([KEY])) as told:
        with pytest.raises(StorageMisplaced):
            await told.said("bob")


@pytest.mark.parametrize("written", [Unbound([KEY]), Codec([KEY])], ids=["before", "now"])
async def test_what_was_encrypted_for_no_place_before_stays_readable(storage: Place, written: Codec) -> None:
    await all_told(storage, written)
    await assert_bob_is_read(storage, Codec([Fernet.generate_key().decode(), KEY]))
