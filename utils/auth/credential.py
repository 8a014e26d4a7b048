"""Keeps the credential of a call for the exchange of tokens, its only use besides authentication."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

_CREDENTIAL = "credential"


class _Credential:
    """Holds a credential until it is taken; it has no representation that would show it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def take(self) -> str:
        text, self._text = self._text, ""
        return text


def keep_credential(state: MutableMapping[str, Any], authorization: str) -> None:
    """Keep the bearer token of a header in the state of its call, until it is taken."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() == "bearer" and token:
        state[_CREDENTIAL] = _Credential(token)


def take_credential(state: MutableMapping[str, Any]) -> str:
    """Remove and return the token of a call; empty if there is none."""
    kept = state.pop(_CREDENTIAL, None)
    return kept.take() if isinstance(kept, _Credential) else ""
