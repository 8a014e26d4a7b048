"""The refusal of a caller who is known and may not do what was asked.

HTTP answers 403, gRPC PERMISSION_DENIED. The SDK's routes turn an error into a body without a status of its own, so the error
is noted for the middleware around them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from a2a.server.request_handlers.response_helpers import EXCEPTION_MAP
from a2a.utils.errors import (
    A2A_ERROR_MAPPING,
    A2A_ERROR_REASONS,
    JSON_RPC_ERROR_CODE_MAP,
    A2AError,
    ErrorMapping,
    InvalidParamsError,
)

from utils.a2a_common.protocol.rpc_codes import SERVER_REFUSED
from utils.a2a_common.protocol.server_error import ServerError
from utils.process_wide import ERROR_TABLES, declare

_REASON = "PERMISSION_DENIED"
_noted: ContextVar[list[Forbidden] | None] = ContextVar("forbidden", default=None)


class Forbidden(A2AError):
    """The caller may not do this.

    Attributes:
        scope: The scope that would allow it; empty if there is none.
    """

    def __init__(self, message: str, scope: str = "") -> None:
        super().__init__(message)
        self.scope = scope
        noted = _noted.get()
        if noted is not None:
            noted.append(self)


def _name_to_the_sdk() -> None:
    A2A_ERROR_MAPPING[Forbidden] = ErrorMapping(403, _REASON, _REASON)
    A2A_ERROR_REASONS[Forbidden] = _REASON
    EXCEPTION_MAP[Forbidden] = EXCEPTION_MAP[InvalidParamsError]
    JSON_RPC_ERROR_CODE_MAP[Forbidden] = SERVER_REFUSED
    JSON_RPC_ERROR_CODE_MAP[ServerError] = SERVER_REFUSED  # the last of a code is what the SDK's client reads


declare(ERROR_TABLES, _name_to_the_sdk)


@contextmanager
def noting_forbidden() -> Iterator[list[Forbidden]]:
    """The refusal of the request that is handled in this block."""
    noted: list[Forbidden] = []
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)
