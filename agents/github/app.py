"""Reads as an installation of a GitHub App: tokens that end by themselves, instead of one that somebody has to renew."""

from __future__ import annotations

from typing import Any

from agents.github.settings import GitHubSettings
from utils.errors import SettingsError


def check_app(settings: GitHubSettings) -> None:
    """Check that all that an app needs is set.

    Raises:
        SettingsError: Says what is missing.
    """
    if settings.app_id is None:
        return
    for name, value in (
        ("GITHUB_APP_KEY_FILE", settings.app_key_file),
        ("GITHUB_APP_INSTALLATION_ID", settings.app_installation_id),
    ):
        if value is None:
            raise SettingsError(name, f"GITHUB_APP_ID needs {name}.")
    if settings.token is not None:
        raise SettingsError("GITHUB_APP_ID", "Set GITHUB_TOKEN or GITHUB_APP_ID, not both.")
    _key(settings)


def installation(settings: GitHubSettings) -> Any:
    """Githubkit's own way to authenticate: it fetches the tokens, and keeps each until it ends."""
    from githubkit import AppInstallationAuthStrategy

    assert settings.app_id is not None
    assert settings.app_installation_id is not None
    return AppInstallationAuthStrategy(settings.app_id, _key(settings), settings.app_installation_id)


def _key(settings: GitHubSettings) -> str:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    assert settings.app_key_file is not None
    try:
        text = settings.app_key_file.read_text("ascii")
        load_pem_private_key(text.encode(), None)
    except (OSError, ValueError, TypeError) as error:
        name = "GITHUB_APP_KEY_FILE"
        raise SettingsError(
            name, f"The file in {name} cannot be read, or holds no private key in PEM form."
        ) from error
    return text
