from __future__ import annotations

from datetime import UTC, datetime

import pytest
from a2a.types.a2a_pb2 import Message, Part, Role, Task, TaskState, TaskStatus
from google.protobuf.timestamp_pb2 import Timestamp

from multi_agents.cli.chat.conversations import (
    LAST_LINES,
    MOST_SHOWN,
    chosen,
    grouped,
    last_lines,
    request_of,
    rows,
)
from multi_agents.cli.errors import UsageError
from utils.a2a_common.protocol.extensions import clear_payload
from utils.a2a_common.protocol.parts import data_part

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def task(
    number: int, context: str, request: str = "Hello", state: TaskState = TaskState.TASK_STATE_COMPLETED
) -> Task:
    changed = Timestamp()
    changed.FromDatetime(NOW)
    said = Message(role=Role.ROLE_USER, parts=[Part(text=request)])
    return Task(
        id=f"t{number}", context_id=context, status=TaskStatus(state=state, timestamp=changed), history=[said]
    )


def test_the_tasks_of_a_conversation_are_one_row_with_its_newest_request_and_what_waits():
    asks = TaskState.TASK_STATE_INPUT_REQUIRED
    found = grouped(
        [task(3, "aaaa-1", "newest"), task(2, "bbbb-2", "waits", asks), task(1, "aaaa-1", "first", asks)]
    )
    assert [(one.context_id, one.requests, one.request) for one in found] == [
        ("aaaa-1", 2, "newest"),
        ("bbbb-2", 1, "waits"),
    ]
    assert [one.waiting_task for one in found] == ["", "t2"]


def test_a_conversation_is_chosen_by_its_number_or_the_beginning_of_its_id():
    found = grouped([task(1, "aaaa-1"), task(2, "aabb-2"), task(3, "cccc-3")])
    assert chosen(found, "3").context_id == "cccc-3"
    assert chosen(found, "aab").context_id == "aabb-2"
    with pytest.raises(UsageError, match="2 conversations begin with aa"):
        chosen(found, "aa")
    with pytest.raises(UsageError, match="There is no conversation 9"):
        chosen(found, "9")


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_row_is_wider_than_the_screen_and_older_ones_are_counted(width):
    found = grouped(
        task(number, f"{number:08}-long-id", "What is it? " * 30) for number in range(MOST_SHOWN + 4)
    )
    lines = rows(found, NOW, width, here="00000001-long-id")
    assert lines[-1].startswith("4 older")
    assert all(len(part) <= width for line in lines[:-1] for part in line.splitlines())
    assert lines[1].startswith("* 2  00000001")


def cleared(number: int, context: str) -> Task:
    made = task(number, context, "Forget everything.")
    made.history[0].parts.append(data_part(clear_payload()))
    return made


def test_what_the_agent_was_told_to_forget_is_not_listed():
    found = grouped(
        [task(5, "a", "new"), cleared(4, "a"), task(3, "a", "old"), cleared(2, "b"), task(1, "b")]
    )
    assert [(one.context_id, one.requests, one.request) for one in found] == [("a", 1, "new")]


def test_the_request_to_forget_is_shown_as_the_command_that_sends_it():
    assert request_of(cleared(1, "a")) == "/clear"
    assert request_of(task(1, "a", "Forget everything.")) == "Forget everything."


def test_of_a_long_answer_the_end_is_shown_with_what_was_left_out():
    assert last_lines("\n".join(map(str, range(50))))[:2] == [
        f"({50 - LAST_LINES} lines before)",
        str(50 - LAST_LINES),
    ]
    assert last_lines("one\ntwo") == ["one", "two"]


def test_a_conversation_that_is_not_there_is_told_with_the_command_that_fits_the_place():
    with pytest.raises(UsageError, match="`platform-engineer conversations list` lists them"):
        chosen([], "zz", listed_by="`platform-engineer conversations list`")
    with pytest.raises(UsageError, match=" /conversations lists them"):
        chosen([], "zz")
