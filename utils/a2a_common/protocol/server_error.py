"""The error of another agent that answers with the code -32000, which A2A gives no meaning."""

from __future__ import annotations

from a2a.utils.errors import A2AError


class ServerError(A2AError):
    """Something failed at the other agent, before or after it began its work."""
