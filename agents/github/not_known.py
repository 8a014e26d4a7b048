"""`NotKnown`, apart from the errors of GitHub's client, whose import is slow."""

from __future__ import annotations

from utils.errors import UpstreamRefused


class NotKnown(UpstreamRefused):
    """GitHub says that it does not know the requested thing, which may also mean that the token may not see it."""
