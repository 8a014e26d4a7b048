"""Ids that a person types only as far as they differ from others."""

from __future__ import annotations

from collections.abc import Iterable

from multi_agents.cli.errors import UsageError


def id_begun_with(typed: str, ids: Iterable[str], things: str) -> str | None:
    """The id that was typed, or else the only one that begins so; `None` if none does. Pure.

    Args:
        typed: What was typed.
        ids: Those there are.
        things: What they are ids of, in the plural, as the error names them.

    Raises:
        UsageError: Several begin so.
    """
    found = [one for one in ids if one.startswith(typed)]
    if typed in found:
        return typed
    if len(found) > 1:
        raise UsageError(f"{len(found)} {things} begin with {typed}: type more of the id.")
    return found[0] if found else None
