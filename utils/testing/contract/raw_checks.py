"""What every answer of any A2A agent must look like on the wire: names, enumerations, roles, ids."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from a2a.types import a2a_pb2
from a2a.types.a2a_pb2 import GetTaskRequest, Message, Role

from utils.testing.contract.session import Broken, Session, Skipped

_FREE_FORM = frozenset({"metadata", "data", "params", "securitySchemes", "schemes", "scopes", "header"})
"""Members whose names are the agent's own."""


async def names_are_in_camel_case(session: Session) -> None:
    """JSON names of the protocol's fields are in camelCase."""
    await session.answer()
    for value in [session.raw_card, *session.raw_answers.values()]:
        for name in _names(value):
            if name in _snake_case_names():
                raise Broken(f"a field is called {name}")


async def enumerations_are_those_of_1_0(session: Session) -> None:
    """States and roles have the names of protocol 1.0."""
    _only_1_0(session)
    await session.answer()
    for value in session.raw_answers.values():
        for holder in _objects(value):
            status, role = holder.get("status"), holder.get("role")
            state = status.get("state") if isinstance(status, Mapping) else None
            if isinstance(state, str) and not state.startswith("TASK_STATE_"):
                raise Broken(f"a state is called {state}")
            if isinstance(role, str) and "parts" in holder and not role.startswith("ROLE_"):
                raise Broken(f"a role is called {role}")


async def messages_have_the_right_role(session: Session) -> None:
    """A message of the client is the user's; every other one is the agent's."""
    answer = await session.answer()
    if isinstance(answer, Message):
        _check_role(session, answer)
        return
    ended = await session.ended_task()
    task = await session.unary.get_task(GetTaskRequest(id=ended.id), context=session.context)
    for message in task.history:
        _check_role(session, message)
    if task.status.HasField("message"):
        _check_role(session, task.status.message)


async def ids_of_json_rpc_come_back(session: Session) -> None:
    """A response has the id of its request, an error's too."""
    for sent in ("conformance-1", 4711):
        answer = await session.method("GetTask", {"id": "nobody"}, rpc_id=sent)
        if answer.get("id") != sent or isinstance(answer.get("id"), bool):
            raise Broken(f"the id {sent!r} came back as {answer.get('id')!r}")


def _check_role(session: Session, message: Message) -> None:
    text = "".join(part.text for part in message.parts)
    if message.message_id in session.sent:
        if message.role != Role.ROLE_USER:
            raise Broken("the client's message is not the user's")
    elif message.role != Role.ROLE_AGENT and text != session.ask:
        raise Broken("a message of the agent has not the agent's role")


def _only_1_0(session: Session) -> None:
    if not session.lists_tasks:
        raise Skipped("protocol 0.3 has other names")


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
        for name, each in value.items():
            if name not in _FREE_FORM:
                yield from _objects(each)
    elif isinstance(value, list):
        for each in value:
            yield from _objects(each)


def _names(value: Any) -> Iterator[str]:
    for holder in _objects(value):
        yield from holder


@functools.cache
def _snake_case_names() -> frozenset[str]:
    fields = [
        field for message in a2a_pb2.DESCRIPTOR.message_types_by_name.values() for field in message.fields
    ]
    return frozenset(field.name for field in fields if field.name != field.json_name)
