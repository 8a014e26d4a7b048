"""A strict double and credentials for it."""

from __future__ import annotations

from tests.provider import aws_credentials, double, running_double

__all__ = ["aws_credentials", "double", "running_double"]
