"""Redacts secrets in logs: values with secret names, known formats of secrets in text, and the secret settings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import unquote

REDACTED = "[redacted]"

HEADERS = "LLM_EXTRA_HEADERS"
"""A setting whose value holds secrets: a JSON object of headers."""

SHORTEST_SECRET = 8
"""Characters; a shorter value could be part of any word."""

_TELLING = r"(?:secret|password|passwd|api[_-]?key|access[_-]?key|private[_-]?key|authorization|credential|cookie|signature)"

_SECRET_NAMES = re.compile(rf"(?i)token$|{_TELLING}")

_HIDDEN = re.compile(
    r"gh[pousr]_[A-Za-z0-9]{16,}"  # GitHub tokens
    r"|github_pat_[A-Za-z0-9_]{20,}"
    r"|glpat-[A-Za-z0-9_-]{16,}"  # GitLab
    r"|sk-[A-Za-z0-9_-]{16,}"  # OpenAI and Anthropic keys
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}"  # Stripe
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}"  # AWS access key ids
    r"|AIza[0-9A-Za-z_-]{30,}"  # Google
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}"  # Slack
    r"|(?:npm|hf)_[A-Za-z0-9]{20,}"
    r"|pypi-[A-Za-z0-9_-]{20,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"  # JSON web tokens
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*-----)?"
    r"|(?i:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"  # credentials in a URL
)

_NAMED = re.compile(
    rf"(?i)((?:token(?!s)|{_TELLING})[\w-]{{0,20}}[\"']?\s{{0,3}}[=:]\s{{0,3}}[\"']?)([^\s\"'&,;]{{4,}})"
)
"""`password=…`, `"api_key": "…"`, `?access_token=…`: the name is kept, the value is redacted."""

_INPUTS = re.compile(r"input_value=.{0,2000}?(?=, input_type=)", re.DOTALL)
"""The input that pydantic's errors quote, which may be a user's text."""

Processor = Callable[[Any, str, Any], Any]


def redact_text(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` with each of `secrets` and everything in the format of a secret replaced."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    text = _HIDDEN.sub(REDACTED, text)
    text = _NAMED.sub(rf"\g<1>{REDACTED}", text)
    return _INPUTS.sub(f"input_value={REDACTED}", text)


def redact(value: Any, secrets: Iterable[str] = ()) -> Any:
    """A copy of a log value without secrets, at any depth; objects become their `repr`."""
    if isinstance(value, str):
        return redact_text(value, secrets)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {
            redact_text(str(name), secrets): REDACTED if _is_secret(str(name)) else redact(inner, secrets)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [redact(inner, secrets) for inner in value]
    return redact_text(repr(value), secrets)


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of settings with secret names, and the passwords in addresses; the longest first."""
    named = [value for name, value in environ.items() if _is_secret(name)]
    passwords = [part for value in environ.values() for part in _passwords(value)]
    headers = _in_headers(environ.get(HEADERS, ""))
    found = {value for value in [*named, *passwords, *headers] if len(value) >= SHORTEST_SECRET}
    return tuple(sorted(found, key=len, reverse=True))


def _passwords(value: str) -> list[str]:
    """The password of an address as it is written and as it is meant; empty where there is none."""
    if "://" not in value:
        return []
    written = value.partition("://")[2].rpartition("@")[0].partition(":")[2]
    return [written, unquote(written)] if written else []


def _in_headers(text: str) -> list[str]:
    try:
        headers = json.loads(text or "{}")
    except ValueError:
        return [text]
    return (
        [value for value in headers.values() if isinstance(value, str)]
        if isinstance(headers, dict)
        else [text]
    )


def redactor(secrets: Iterable[str] = ()) -> Processor:
    """A structlog processor that redacts the whole event."""
    known = tuple(secrets)

    def redact_event(_logger: Any, _method: str, event: Any) -> Any:
        return redact(event, known)

    return redact_event


def _is_secret(name: str) -> bool:
    return bool(_SECRET_NAMES.search(name))
