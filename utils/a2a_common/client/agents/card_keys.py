"""Checks the signatures of agent cards (JWS, RFC 7515) with the public keys that are configured for an agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from utils.errors import SettingsError

if TYPE_CHECKING:
    from a2a.types import AgentCard
    from jwt import PyJWK

VARIABLE = "SUB_AGENTS_CARD_KEYS"

ALGORITHMS = ("ES256", "ES384", "ES512", "EdDSA", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512")
"""Asymmetric algorithms only: with a shared secret, everyone who can verify a card could also sign one."""

LARGEST_FILE = 1_000_000
"""Most bytes of a file with keys."""

CardCheck = Callable[["AgentCard"], bool]
"""Whether a card is signed by one of an agent's keys."""


def card_checks(value: str, names: Collection[str]) -> Mapping[str, CardCheck]:
    """The check of each agent that has keys, of `name=path` pairs separated by commas.

    Args:
        value: The setting. A path leads to a JWK set (RFC 7517) or to one JWK.
        names: The configured agents.

    Raises:
        SettingsError: A pair is malformed, names no agent, or its file cannot be used.
    """
    found: dict[str, CardCheck] = {}
    for pair in filter(None, (each.strip() for each in value.split(","))):
        name, separator, path = (part.strip() for part in pair.partition("="))
        if not separator or not path or name in found:
            raise _wrong("write each agent once, as name=path")
        if name not in names:
            raise _wrong(f"it names an unknown agent; known agents: {', '.join(sorted(names)) or 'none'}")
        found[name] = _check(_keys_of(Path(path), name))
    return found


def _check(keys: Mapping[str, PyJWK]) -> CardCheck:
    from a2a.utils.signing import SignatureVerificationError, create_signature_verifier
    from jwt import PyJWKSetError

    def key_of(kid: str | None, _url: str | None) -> PyJWK:
        """The key that a signature names; keys are never fetched from an address in the card."""
        if kid is None and len(keys) == 1:
            return next(iter(keys.values()))
        if not isinstance(kid, str) or kid not in keys:
            raise PyJWKSetError("no such key")
        return keys[kid]

    verify = create_signature_verifier(key_of, list(ALGORITHMS))

    def is_signed(card: AgentCard) -> bool:
        try:
            verify(card)
        except (
            SignatureVerificationError,
            ValueError,
            TypeError,
            RecursionError,
        ):  # the card is foreign data
            return False
        return True

    return is_signed


def _keys_of(path: Path, name: str) -> dict[str, PyJWK]:
    """The public keys of a file by their id.

    Raises:
        SettingsError: It cannot be read, or holds anything but public keys, of which several need an id each.
    """
    from jwt import PyJWK, PyJWTError

    try:
        with path.open("rb") as file:
            known = json.loads(file.read(LARGEST_FILE))
        listed = known.get("keys", [known])
        keys = [(str(each.get("kid", "")), _private(each), PyJWK.from_dict(each)) for each in listed]
    except OSError as error:
        raise _wrong(
            f"the file of {name} cannot be read: {error.strerror or type(error).__name__}"
        ) from error
    except (ValueError, TypeError, AttributeError, KeyError, PyJWTError) as error:
        raise _wrong(f"the file of {name} is no set of JSON Web Keys") from error
    if any(private for _, private, _ in keys):
        raise _wrong(f"the file of {name} holds a secret; give the public keys alone")
    if not keys or len({kid for kid, _, _ in keys}) != len(keys) or any(not kid for kid, _, _ in keys[1:]):
        raise _wrong(f"the file of {name} needs keys, and an id (kid) for each of several")
    if not {key.algorithm_name for _, _, key in keys} <= set(ALGORITHMS):
        raise _wrong(f"the file of {name} has a key of a kind that is not taken")
    return {kid: key for kid, _, key in keys}


def _private(key: Mapping[str, object]) -> bool:
    return "d" in key or "k" in key


def _wrong(why: str) -> SettingsError:
    return SettingsError(VARIABLE, f"Setting {VARIABLE} is wrong: {why}.")
