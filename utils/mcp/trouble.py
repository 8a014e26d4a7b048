"""Why a server is not connected, for its operator. Pure."""

from __future__ import annotations

import httpx
from mcp.shared.exceptions import McpError

from utils.mcp.http_failure import failed_with, failure_in


def reason_of(error: BaseException) -> str:
    """How a server failed, or the types of the innermost errors of a group; without addresses or secrets."""
    if isinstance(error, BaseExceptionGroup):
        return ", ".join(sorted({reason_of(each) for each in error.exceptions}))
    if isinstance(error, McpError) and (failure := failure_in(error)) is not None:
        return f"it {failure.says}"
    if isinstance(error, httpx.HTTPStatusError):
        return f"it {failed_with(error.response.status_code, error.response.headers).says}"
    return type(error).__name__
