"""Keeps secrets out of logs: values under telling names, and tokens of known forms inside text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

REDACTED = "[redacted]"

_SECRET_NAMES = re.compile(
    r"(token$|secret|password|api_?key|authorization|credential|cookie)", re.IGNORECASE
)

_SECRET_FORMS = re.compile(
    r"gh[pousr]_[A-Za-z0-9]{16,}"  # GitHub tokens
    r"|github_pat_[A-Za-z0-9_]{20,}"
    r"|sk-[A-Za-z0-9_-]{16,}"  # OpenAI keys
    r"|AKIA[0-9A-Z]{16}"  # AWS access key ids
    r"|(?i:bearer)\s+[A-Za-z0-9._~+/=-]{8,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"  # credentials in a URL
)


def redact_text(text: str) -> str:
    """`text` with everything that has the form of a secret replaced."""
    return _SECRET_FORMS.sub(REDACTED, text)


def redact(value: Any) -> Any:
    """A copy of a log value without secrets, whatever its depth."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping):
        return {
            name: REDACTED if _SECRET_NAMES.search(str(name)) else redact(inner)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact(inner) for inner in value]
    return value


def redact_event(_logger: Any, _method: str, event: Any) -> Any:
    """A structlog processor that redacts the whole event."""
    return {name: REDACTED if _SECRET_NAMES.search(name) else redact(value) for name, value in event.items()}
