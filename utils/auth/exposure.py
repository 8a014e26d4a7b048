"""Whether an agent may listen on an address that other machines reach. Pure."""

from __future__ import annotations

from utils.auth.settings import AuthMode, AuthSettings
from utils.errors import SettingsError
from utils.net.addresses import http_url
from utils.net.loopback import is_loopback


def is_exposed(host: str) -> bool:
    """Whether other machines reach what listens at this address."""
    return not is_loopback(http_url(host))


def check_exposure(host: str, settings: AuthSettings, note: str = "") -> None:
    """Refuse to listen on an address that other machines reach while AUTH_MODE is not set.

    Args:
        host: The address to listen on.
        settings: Who may call.
        note: A further sentence for the error message.

    Raises:
        SettingsError: Says what to set.
    """
    if is_exposed(host) and settings.mode is None:
        sentence = (
            f"HOST is {host}, so that other machines reach this agent, and AUTH_MODE is not set. Set AUTH_MODE=api-key or "
            "oidc, so that callers are known, or AUTH_MODE=none, if everybody who reaches it may use it."
        )
        raise SettingsError("AUTH_MODE", f"{sentence} {note}".rstrip())


def check_writes(variable: str, host: str, settings: AuthSettings) -> None:
    """Refuse to enable write access without authentication where other machines reach the agent.

    Raises:
        SettingsError: Says what to set.
    """
    if is_exposed(host) and settings.mode in (None, AuthMode.NONE):
        raise SettingsError(
            variable,
            f"{variable} is set, and HOST is {host} without authentication: everybody who reaches this agent could change "
            "something in your name. Set AUTH_MODE=api-key or oidc.",
        )
