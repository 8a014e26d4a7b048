"""The refusal of a caller who sent no credentials where some are needed.

HTTP+JSON answers 401, gRPC UNAUTHENTICATED, and JSON-RPC the code of an extended card that the caller cannot have.
"""

from __future__ import annotations

from a2a.server.request_handlers.response_helpers import EXCEPTION_MAP
from a2a.utils.errors import (
    A2A_ERROR_MAPPING,
    A2A_ERROR_REASONS,
    JSON_RPC_ERROR_CODE_MAP,
    A2AError,
    ErrorMapping,
    ExtendedAgentCardNotConfiguredError,
)

from utils.process_wide import ERROR_TABLES, declare

_REASON = "UNAUTHENTICATED"


class CredentialsRequired(A2AError):
    """The operation is for authenticated callers."""


def _name_to_the_sdk() -> None:
    A2A_ERROR_MAPPING[CredentialsRequired] = ErrorMapping(401, _REASON, _REASON)
    A2A_ERROR_REASONS[CredentialsRequired] = _REASON
    EXCEPTION_MAP[CredentialsRequired] = EXCEPTION_MAP[ExtendedAgentCardNotConfiguredError]
    JSON_RPC_ERROR_CODE_MAP[CredentialsRequired] = JSON_RPC_ERROR_CODE_MAP[
        ExtendedAgentCardNotConfiguredError
    ]


declare(ERROR_TABLES, _name_to_the_sdk)
