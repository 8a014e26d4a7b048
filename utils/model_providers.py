"""What is assumed of the models of each provider (`ModelProvider` of `utils/settings.py`), one row each. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProviderTraits:
    """What is assumed of a provider's models.

    Attributes:
        window: Context window of a model that is in no table, in tokens: that of the provider's smaller current models.
        window_setting: Field of `ContextSettings` that sets the window of this provider's models.
        token_ratio: Upper bound of charged tokens per counted token, used until it is measured.
    """

    window: int
    window_setting: str
    token_ratio: float


PROVIDER_TRAITS: Mapping[str, ProviderTraits] = {
    "embedded": ProviderTraits(128_000, "window", 1.0),
    "openai": ProviderTraits(128_000, "openai_window", 1.0),
    "azure-openai": ProviderTraits(128_000, "azure_window", 1.0),
    "aws-bedrock": ProviderTraits(100_000, "bedrock_window", 1.35),
    "openai-compatible": ProviderTraits(32_000, "openai_window", 1.25),
    "anthropic": ProviderTraits(100_000, "anthropic_window", 1.35),
    "google-gemini": ProviderTraits(128_000, "gemini_window", 1.2),
    "gcp-vertexai": ProviderTraits(128_000, "vertex_window", 1.2),
}
"""As of November 2026.

Ratios: Claude's tokenisers give up to a third more than `o200k_base` on code and JSON; those of open models
(Llama, Qwen, Mistral) up to a quarter more."""
