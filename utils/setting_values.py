"""What values of settings are made of, where a type alone does not tell. Pure: each refuses with a reason, never the value."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit


def choices(values: Iterable[str], **remarks: str) -> str:
    """The values as a phrase, a remark in brackets behind those that have one: "embedded (offline), openai or none"."""
    *others, last = (f"{value} ({remarks[value]})" if value in remarks else str(value) for value in values)
    return f"{', '.join(others)} or {last}" if others else last


def http_address(value: str | None) -> str | None:
    """The value, where it is unset or an address with scheme and host.

    Raises:
        ValueError: It is none.
    """
    if value is None:
        return None
    try:
        parts = urlsplit(value)
        whole = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number
        whole = False
    if not whole:
        raise ValueError("it must be an address that starts with http:// or https://")
    return value


def price_table(text: str) -> dict[str, tuple[float, float, float]]:
    """The prices of `model=input/output/cached` pairs, separated by commas.

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
