"""Redacts secrets in logs: values with secret names, known formats of secrets in text, and the secret settings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_args
from urllib.parse import unquote

from pydantic import SecretStr

from utils.environment import EnvSettings
from utils.observability.secret_forms import HEADER, KNOWN, NAME_WORDS, NAMED

REDACTED = "[redacted]"

HEADERS = "LLM_EXTRA_HEADERS"
"""A setting whose value holds secrets: a JSON object of headers."""

SHORTEST_SECRET = 8
"""Characters; a shorter value could be part of any word."""

_SECRET_NAMES = re.compile(rf"(?i)token$|{NAME_WORDS}")

_INPUT, _INPUT_END = "input_value=", ", input_type="
_LONGEST_INPUT = 2_000
"""Characters of the input that pydantic's errors quote at most, which may be a user's text."""

Processor = Callable[[Any, str, Any], Any]


def redact_text(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` with each of `secrets` and everything in the format of a secret replaced."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    text = HEADER.sub(_header_hidden, text)
    text = KNOWN.sub(REDACTED, text)
    text = NAMED.sub(_value_hidden, text)
    return _without_inputs(text)


def _header_hidden(found: re.Match[str]) -> str:
    quote = found[3] or found[4] or ""
    return f"{found[1]}{found[2]}{quote}{REDACTED}"


def _value_hidden(found: re.Match[str]) -> str:
    quote = found[2] or found[3] or found[4] or ""
    end = "\\" if found[2] else ""  # the escaped quote that follows was matched with the value
    return f"{found[1]}{quote}{REDACTED}{end}"


def _without_inputs(text: str) -> str:
    kept, place = [], 0
    while (start := text.find(_INPUT, place)) >= 0:
        start += len(_INPUT)
        end = text.find(_INPUT_END, start, start + _LONGEST_INPUT + len(_INPUT_END))
        if end < 0:
            kept.append(text[place:start])
            place = start
            continue
        kept += [text[place:start], REDACTED]
        place = end
    return "".join([*kept, text[place:]])


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
    """The values of secret settings, by their type or their name, and the passwords in addresses; the longest first."""
    by_type = secret_variables()
    named = [value for name, value in environ.items() if _is_secret(name)]
    named += [environ[name] for name in by_type & environ.keys() if "://" not in environ[name]]
    named += [part for name in by_type & environ.keys() for part in _parts(environ[name])]
    passwords = [part for value in environ.values() for part in _passwords(value)]
    headers = _in_headers(environ.get(HEADERS, ""))
    found = {value for value in [*named, *passwords, *headers] if len(value) >= SHORTEST_SECRET}
    return tuple(sorted(found, key=len, reverse=True))


def secret_variables() -> frozenset[str]:
    """Variables whose settings are secrets by type, of the groups that this process has imported."""
    found, groups = set[str](), [EnvSettings]
    while groups:
        group = groups.pop()
        groups += group.__subclasses__()
        found |= {
            field.alias
            for field in group.model_fields.values()
            if field.alias and SecretStr in (field.annotation, *get_args(field.annotation))
        }
    return frozenset(found)


def _parts(value: str) -> list[str]:
    """The secrets in a setting that holds several: comma-separated keys, or headers as `name=value`.

    The value of a header without a secret name that is one word, such as a tenant's name, is not a secret: log lines contain
    such words.
    """
    if "://" in value or value.lstrip().startswith("{"):
        return _in_headers(value) if "{" in value else []
    pieces = [piece.strip() for piece in value.split(",")]
    named = [(name, content) for name, _, content in (piece.partition("=") for piece in pieces)]
    return [
        *pieces,
        *(content for name, content in named if "auth" in name or _is_secret(name) or not content.isalpha()),
    ]


def _passwords(value: str) -> list[str]:
    """The password of a URL, as written and percent-decoded; empty if there is none."""
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
    """A structlog processor that redacts events."""
    known = tuple(secrets)

    def redact_event(_logger: Any, _method: str, event: Any) -> Any:
        return redact(event, known)

    return redact_event


def _is_secret(name: str) -> bool:
    return bool(_SECRET_NAMES.search(name))
