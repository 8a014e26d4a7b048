"""Bounds each caller: to the tenant that its credentials name, and to a number of requests.

Requests are counted in a minute, and those that are open at once; each replica counts for itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import SendMessageRequest
from a2a.utils.errors import InvalidParamsError
from google.protobuf.struct_pb2 import Struct

from utils.a2a_common.handler.message_rules import check_id
from utils.a2a_common.protocol.delegation_context import find_delegation_context
from utils.a2a_common.protocol.forbidden import Forbidden
from utils.auth.principal import PRINCIPAL, Principal, PrincipalKind
from utils.errors import TooManyRequests

OTHER_TENANT = "The credentials are for another tenant."
OTHER_TASK = "The credentials are for another task."

BUSY_SECONDS = 2.0
"""Seconds after which a caller with too many open requests may retry."""

_MINUTE = 60.0
_MOST_CALLERS = 10_000
"""Callers after which those that are far from their limits are forgotten."""


def principal_in(call: ServerCallContext) -> Principal | None:
    """The verified caller; `None` if callers are not verified."""
    found = call.state.get(PRINCIPAL)
    return found if isinstance(found, Principal) else None


def check_caller(params: Any, call: ServerCallContext) -> None:
    """Give the call the tenant of its caller, and refuse what names another one, or another task than the token is for.

    Where callers are not verified, the tenant is what the call names, in its path or in its parameters.

    Raises:
        Forbidden: It names another one.
        InvalidParamsError: It names two, or what cannot be the name of one.
    """
    caller = principal_in(call)
    if caller is None:
        call.tenant = _only_tenant(call.tenant, str(getattr(params, "tenant", "") or ""))
        return
    if any(name != caller.tenant for name in [call.tenant, *_named(params)] if name):
        raise Forbidden(OTHER_TENANT)
    call.tenant = caller.tenant
    if caller.kind is PrincipalKind.AGENT and caller.task and _task_of(params) not in ("", caller.task):
        raise Forbidden(OTHER_TASK)


def _only_tenant(*named: str) -> str:
    """The tenant that a call names, in one place or in several; empty if it names none."""
    names = {name for name in named if name}
    if len(names) > 1:
        raise InvalidParamsError(
            "The tenant is given twice with different values (path, body, metadata). Give it once."
        )
    tenant = names.pop() if names else ""
    check_id("tenant", tenant)
    return tenant


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
    """The task that a delegation names as its parent."""
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


@dataclass(slots=True)
class _Caller:
    """One caller: its remaining requests, the time of that count, and how many are open."""

    left: float
    seen: float
    open: int = 0


class CallerLimits:
    """Counts the requests of each caller.

    Args:
        per_minute: Requests in a minute, which may all come at once; 0 for no limit.
        at_once: Open requests, streams included; 0 for no limit.
        clock: Seconds that only grow.
    """

    def __init__(
        self, per_minute: int = 0, at_once: int = 0, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_minute = per_minute
        self._at_once = at_once
        self._clock = clock
        self._callers: dict[str, _Caller] = {}

    @contextmanager
    def held(self, owner: str) -> Iterator[None]:
        """Count a request of a caller while the block runs.

        Raises:
            TooManyRequests: It exceeds the limit; says when to retry.
        """
        if not self._per_minute and not self._at_once:
            yield
            return
        caller = self._counted(owner)
        caller.open += 1
        try:
            yield
        finally:
            caller.open -= 1

    def _counted(self, owner: str) -> _Caller:
        now = self._clock()
        caller = self._callers.get(owner)
        if caller is None:
            self._forget(now)
            caller = self._callers[owner] = _Caller(self._per_minute, now)
        caller.left, caller.seen = self._left(caller, now), now
        if self._at_once and caller.open >= self._at_once:
            raise TooManyRequests(BUSY_SECONDS)
        if self._per_minute and caller.left < 1:
            raise TooManyRequests((1 - caller.left) * _MINUTE / self._per_minute)
        caller.left -= 1
        return caller

    def _left(self, caller: _Caller, now: float) -> float:
        earned = (now - caller.seen) * self._per_minute / _MINUTE
        return min(float(self._per_minute), caller.left + earned)

    def _forget(self, now: float) -> None:
        if len(self._callers) < _MOST_CALLERS:
            return
        self._callers = {
            name: caller
            for name, caller in self._callers.items()
            if caller.open or self._left(caller, now) < self._per_minute
        }
