"""Parses values of settings whose type alone does not say enough. Pure: errors give a reason, never the value."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Reasoning efforts, by the providers' names."""


def choices(values: Iterable[str], **remarks: str) -> str:
    """The values as a phrase, a remark in brackets behind those that have one: "embedded (offline), openai or none"."""
    *others, last = (f"{value} ({remarks[value]})" if value in remarks else str(value) for value in values)
    return f"{', '.join(others)} or {last}" if others else last


def http_address(value: str | None) -> str | None:
    """The value, if it is unset or a URL with scheme and host.

    Raises:
        ValueError: It is not.
    """
    if value is None:
        return None
    try:
        parts = urlsplit(value)
        valid = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # a port that is not a number
        valid = False
    if not valid:
        raise ValueError("it must be an address that starts with http:// or https://")
    return value


def json_object(text: str | None) -> dict[str, Any]:
    """Parse a JSON object; empty if unset.

    Raises:
        ValueError: It is not a JSON object.
    """
    try:
        value = json.loads(text or "{}")
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ValueError("it must be a JSON object")  # noqa: TRY004 - pydantic takes ValueError
    return value


def header_fields(text: str | None) -> dict[str, str]:
    """HTTP headers written as a JSON object.

    Raises:
        ValueError: It is not an object, or a header's value is not a string on one line.
    """
    found = json_object(text)
    for name, value in found.items():
        valid = isinstance(value, str) and value.isprintable() and value.isascii()
        if not valid or not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
            raise ValueError("it must be a JSON object of names and texts")
    return found


def price_table(text: str) -> dict[str, tuple[float, float, float]]:
    """Parse `model=input/output/cached` pairs, separated by commas.

    Raises:
        ValueError: A pair is malformed or a price is below 0.
    """
    found = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, _, numbers = pair.partition("=")
        wrong = "write each price as model=input/output/cached"
        try:
            fresh, output, cached = (float(number) for number in numbers.split("/"))
        except ValueError as error:
            raise ValueError(wrong) from error
        if not name.strip() or not all(0 <= each < float("inf") for each in (fresh, output, cached)):
            raise ValueError(wrong)
        found[name.strip()] = (fresh, output, cached)
    return found
