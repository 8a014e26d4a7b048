"""What an agent's errors must not show: its code, its files, its credentials."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import uuid4

from a2a.types.a2a_pb2 import Message, TaskState
from google.protobuf import json_format

from utils.testing.contract.session import Broken, Session

_FAILED = (TaskState.TASK_STATE_FAILED, TaskState.TASK_STATE_REJECTED)

_INTERNALS = {
    "a traceback": re.compile(r"Traceback \(most recent call last\)|\bat [\w.$<>]+ ?\([^()\n]*:\d+\)"),
    "a place in the code": re.compile(r"\bFile \\?\"[^\"\n]+\", line \d+|\.(py|js|ts|java|go|rb|cs):\d+\b"),
    "a credential": re.compile(
        r"\b(password|passwd|pwd|secret|api[_-]?key|access[_-]?token)(\s*=\s*|\\?[\"']\s*:\s*\\?[\"'])\S",
        re.IGNORECASE,
    ),
    "the repr of an exception": re.compile(r"\b[A-Z]\w*(Error|Exception)\(['\"\\]"),
}


async def failed_task_shows_no_internals(session: Session) -> None:
    """What a client reads of a failure is meant for it."""
    if isinstance(await session.answer(), Message):
        return
    task = await session.ended_task()
    if task.status.state in _FAILED:
        status = json_format.MessageToDict(task.status)
        _check("the failed task", [status, json_format.MessageToDict(task.metadata)])


async def unknown_task_shows_no_internals(session: Session) -> None:
    """The error of a task that is not there."""
    _check("the error of an unknown task", await session.method("GetTask", {"id": str(uuid4())}))


async def parse_error_shows_no_internals(session: Session) -> None:
    """The error of what is no JSON."""
    _check("the parse error", await session.rpc(b'{"jsonrpc": "2.0", "method": '))


def _check(what: str, value: Any) -> None:
    text = json.dumps(value)
    for name, pattern in _INTERNALS.items():
        if pattern.search(text):
            raise Broken(f"{what} shows {name}")
