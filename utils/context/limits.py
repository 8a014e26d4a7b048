"""Context window of a model: explicit setting, model profile, model table, provider table, in this order. Pure.

The tables are of November 2026. An unknown model gets `DEFAULT_WINDOW`; `ContextMiddleware` corrects a
wrong value when the provider refuses a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from utils.context.settings import ContextSettings
from utils.model_providers import PROVIDER_TRAITS
from utils.settings import ModelProvider

DEFAULT_WINDOW = 128_000
"""Window of an unknown model, in tokens."""

MODEL_WINDOWS: tuple[tuple[str, int], ...] = (
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4-32k", 32_768),
    ("gpt-4", 8_192),
    ("gpt-3.5", 16_385),
    ("gpt-5", 272_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("claude", 200_000),
    ("nova-micro", 128_000),
    ("nova-lite", 300_000),
    ("nova-pro", 300_000),
    ("gemini", 1_048_576),
    ("llama-3.1", 128_000),
    ("llama3.1", 128_000),
    ("qwen3", 32_768),
    ("qwen2.5", 32_768),
    ("mistral-large", 128_000),
)
"""Windows by prefix of the model's name; the first match counts."""

_PREFIXES = ("us.", "eu.", "apac.", "global.", "anthropic.", "amazon.", "meta.", "mistral.")


def get_context_window(
    model: str | None,
    override: int | Mapping[str, Any] | None = None,
    *,
    profile: Mapping[str, Any] | None = None,
    provider: str | None = None,
) -> int:
    """The context window of a model, in tokens.

    Args:
        model: Name of the model, with or without a provider's prefix.
        override: The window, or a mapping with the key `context_window`.
        profile: LangChain's profile of the model (`model.profile`).
        provider: The provider, used if the model is in no table.
    """
    explicit = override.get("context_window") if isinstance(override, Mapping) else override
    for known in (explicit, (profile or {}).get("max_input_tokens"), _by_name(model)):
        if isinstance(known, int) and known > 0:
            return known
    return get_context_limit_for_provider(provider)


def get_context_limit_for_provider(
    provider: ModelProvider | str | None = None, settings: ContextSettings | None = None
) -> int:
    """The window of a provider: its own setting, the general setting, the table, or `DEFAULT_WINDOW`."""
    traits = PROVIDER_TRAITS.get(str(provider))
    return explicit_limit(provider, settings) or (traits.window if traits else DEFAULT_WINDOW)


def explicit_limit(provider: ModelProvider | str | None, settings: ContextSettings | None) -> int | None:
    """The window that is set for this provider or for all providers; `None` if none is set."""
    if settings is None:
        return None
    traits = PROVIDER_TRAITS.get(str(provider))
    own = getattr(settings, traits.window_setting) if traits else None
    return own or settings.window


def _by_name(model: str | None) -> int | None:
    name = (model or "").lower().rpartition("/")[2]
    while name.startswith(_PREFIXES):
        name = name.partition(".")[2]
    return next((window for start, window in MODEL_WINDOWS if name.startswith(start)), None)
