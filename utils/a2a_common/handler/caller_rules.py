"""What a caller whose credentials were verified may ask for: only what is in the tenant that the credentials name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import SendMessageRequest
from google.protobuf.struct_pb2 import Struct

from utils.a2a_common.protocol.delegation_context import find_delegation_context
from utils.a2a_common.protocol.forbidden import Forbidden
from utils.auth.principal import PRINCIPAL, Kind, Principal

OTHER_TENANT = "The credentials are for another tenant."
OTHER_TASK = "The credentials are for another task."


def principal_in(call: ServerCallContext) -> Principal | None:
    """Who calls; `None` where callers are not verified."""
    found = call.state.get(PRINCIPAL)
    return found if isinstance(found, Principal) else None


def check_caller(params: Any, call: ServerCallContext) -> None:
    """Give the call the tenant of its caller, and refuse what names another one, or another task than the token is for.

    Raises:
        Forbidden: It names another one.
    """
    caller = principal_in(call)
    if caller is None:
        return
    if any(name != caller.tenant for name in [call.tenant, *_named(params)] if name):
        raise Forbidden(OTHER_TENANT)
    call.tenant = caller.tenant
    if caller.kind is Kind.AGENT and caller.task and _task_of(params) not in ("", caller.task):
        raise Forbidden(OTHER_TASK)


def _named(params: Any) -> Iterator[str]:
    """Tenants that a request names."""
    yield str(getattr(params, "tenant", "") or "")
    if isinstance(params, SendMessageRequest):
        yield from _tenants(params.metadata)
        yield from _tenants(params.message.metadata)


def _tenants(metadata: Struct) -> Iterator[str]:
    if "tenant" in metadata.fields:
        value = metadata.fields["tenant"]
        yield value.string_value if value.HasField("string_value") else "\x00"


def _task_of(params: Any) -> str:
    """The task that a delegation says that it is part of."""
    from google.protobuf import json_format

    if not isinstance(params, SendMessageRequest):
        return ""
    data = [
        json_format.MessageToDict(part.data.struct_value)
        for part in params.message.parts
        if part.data.HasField("struct_value")
    ]
    context = find_delegation_context(data)
    return context.parent_task_id if context else ""
