"""What every store of tool calls does."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from cryptography.fernet import Fernet

from tests.postgres import ENCRYPTED, PARAMETER
from utils.encryption.codec import Codec
from utils.persistence.encrypted.stores import EncryptedToolRecord
from utils.persistence.postgres.tool_record import PostgresToolRecord
from utils.persistence.tool_record import (
    CallKey,
    MemoryToolRecord,
    RecordedCall,
    SqliteToolRecord,
    ToolRecord,
)

KEY = CallKey("task", "answer-1", "call-1")


@pytest.fixture(params=["memory", "sqlite", "sqlite-encrypted", PARAMETER, ENCRYPTED])
async def record(request, tmp_path):
    async with AsyncExitStack() as stack:
        made = await _made(request, tmp_path, stack)
        if "encrypted" in request.param:
            made = EncryptedToolRecord(made, Codec([Fernet.generate_key().decode()]))
        await made.open()
        yield made
        await made.close()


async def _made(request, folder, stack: AsyncExitStack) -> ToolRecord:
    if "postgresql" in request.param:
        return PostgresToolRecord(
            await stack.enter_async_context(request.getfixturevalue("postgres").opened())
        )
    return MemoryToolRecord() if request.param == "memory" else SqliteToolRecord(folder / "calls.sqlite")


async def test_a_call_that_has_not_begun_is_unknown(record):
    assert await record.get(KEY) is None


async def test_a_call_that_has_begun_has_no_outcome(record):
    await record.begin(KEY)
    assert await record.get(KEY) == RecordedCall()


async def test_a_call_that_has_ended_has_its_outcome_also_when_its_begin_was_not_recorded(record):
    await record.begin(KEY)
    await record.finish(KEY, b"one")
    other = CallKey("task", "answer-1", "call-2")
    await record.finish(other, b"two")
    assert await record.get(KEY) == RecordedCall(b"one")
    assert await record.get(other) == RecordedCall(b"two")


async def test_to_begin_again_and_to_withdraw_keep_the_outcome_of_a_call_that_has_ended(record):
    await record.finish(KEY, b"one")
    await record.begin(KEY)
    await record.withdraw(KEY)
    assert await record.get(KEY) == RecordedCall(b"one")


async def test_a_withdrawn_call_has_not_begun(record):
    await record.begin(KEY)
    await record.withdraw(KEY)
    assert await record.get(KEY) is None


@pytest.mark.parametrize(
    "other",
    [
        CallKey("other task", "answer-1", "call-1"),
        CallKey("task", "answer-2", "call-1"),
        CallKey("task", "answer-1", "call-2"),
    ],
)
async def test_calls_are_told_apart_by_task_answer_and_id(record, other):
    await record.begin(KEY)
    assert await record.get(other) is None


async def test_only_the_calls_of_a_task_that_ended_are_forgotten(record):
    other = CallKey("other task", "answer-1", "call-1")
    await record.begin(KEY)
    await record.finish(other, b"kept")
    await record.forget("task")
    await record.forget("never seen")
    assert await record.get(KEY) is None
    assert await record.get(other) == RecordedCall(b"kept")


async def test_calls_in_a_file_are_there_after_a_restart_and_can_be_forgotten_then(tmp_path):
    for step in range(3):
        record = SqliteToolRecord(tmp_path / "tool_calls.sqlite")
        await record.open()
        found = await record.get(KEY)
        assert found == (RecordedCall(b"one") if step == 1 else None)
        await (record.finish(KEY, b"one") if step == 0 else record.forget("task"))
        await record.close()


async def test_a_file_that_is_opened_by_several_at_once_can_be_closed(tmp_path):
    record = SqliteToolRecord(tmp_path / "tool_calls.sqlite")
    await asyncio.gather(*(record.open() for _ in range(5)))
    await record.finish(KEY, b"one")
    async with asyncio.timeout(60):
        await record.close()
