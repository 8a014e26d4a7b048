"""Options of the clients of all providers: required settings, addresses and time-outs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, TypeVar

from pydantic import SecretStr

from utils.errors import SettingsError
from utils.setting_values import header_fields, http_address, json_object
from utils.settings import LLMSettings

T = TypeVar("T")

CONNECT_SECONDS = 10.0
"""Connect timeout; a provider that takes longer counts as down."""

KEYLESS = SecretStr("none")
"""Sent to OpenAI-compatible servers if no key is set: the client requires one, these servers do not."""

CLIENT_MARGIN_SECONDS = 0.5
"""How much longer a client waits than the settings allow."""


def longest_silence(settings: LLMSettings) -> float:
    """Read time-out of a client in seconds: longer than the limits of `ModelCall`, which reports which of them was exceeded."""
    return max(settings.timeout_seconds, settings.stream_timeout_seconds) + CLIENT_MARGIN_SECONDS


def model_name(settings: LLMSettings) -> str:
    """`LLM_MODEL`, which every provider needs.

    Raises:
        SettingsError: It is not set.
    """
    return required(settings.model, "LLM_MODEL", settings)


def required(value: T | None, variable: str, settings: LLMSettings) -> T:
    """The value of a setting that the provider needs.

    Raises:
        SettingsError: It is not set.
    """
    if value is None:
        raise SettingsError(variable, f"Set {variable}: LLM_PROVIDER={settings.provider} needs it.")
    return value


def address(url: str | None, variable: str) -> str | None:
    """The address of a server, validated.

    Raises:
        SettingsError: It is not an HTTP address.
    """
    try:
        return http_address(url)
    except ValueError:
        raise SettingsError(
            variable, f"{variable} must be an address that starts with http:// or https://."
        ) from None


def given(**options: Any) -> dict[str, Any]:
    """The options that have a value."""
    return {name: value for name, value in options.items() if value is not None}


def effort_of(settings: LLMSettings, known: Sequence[str], whose: str) -> Any:
    """`LLM_REASONING_EFFORT` if the provider knows it; `None` if it is unset.

    Raises:
        SettingsError: The provider has no such effort.
    """
    effort = settings.reasoning_effort
    if effort is None or effort in known:
        return effort
    raise SettingsError(
        "LLM_REASONING_EFFORT", f"LLM_REASONING_EFFORT is {effort}, {whose} has: {', '.join(known)}."
    )


def extra_headers(settings: LLMSettings) -> dict[str, str] | None:
    """`LLM_EXTRA_HEADERS`; `None` if unset."""
    secret = settings.extra_headers
    return header_fields(secret.get_secret_value()) if secret else None


def extra_body(settings: LLMSettings) -> dict[str, Any] | None:
    """`LLM_EXTRA_BODY`; `None` if unset."""
    return json_object(settings.extra_body) or None


def optional_module(name: str, requirement: str, settings: LLMSettings) -> ModuleType:
    """A package that is installed for one provider only.

    Args:
        name: Name of the module.
        requirement: What to install.
        settings: The settings with the provider that needs it.

    Raises:
        SettingsError: It is not installed; names the command that installs it.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise SettingsError(
            "LLM_PROVIDER",
            f"LLM_PROVIDER={settings.provider} needs a package that is not installed. Install it: "
            f"{sys.executable} -m pip install '{requirement}'",
        ) from error
