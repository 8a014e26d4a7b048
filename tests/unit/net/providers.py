"""Settings of each provider whose client is made by a package of its own."""

from __future__ import annotations

OPENAI = {"LLM_PROVIDER": "openai", "OPENAI_API_KEY": "k"}
PROVIDERS = [
    OPENAI,
    {"LLM_PROVIDER": "openai-compatible"},
    {"LLM_PROVIDER": "azure-openai", "AZURE_OPENAI_API_KEY": "k"},
    {"LLM_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "k"},
    {"LLM_PROVIDER": "google-gemini", "GOOGLE_API_KEY": "k"},
]
EMBEDDERS = [
    {"EMBEDDINGS_PROVIDER": "openai", "OPENAI_API_KEY": "k"},
    {"EMBEDDINGS_PROVIDER": "openai-compatible", "EMBEDDINGS_MODEL": "m"},
    {"EMBEDDINGS_PROVIDER": "azure-openai", "EMBEDDINGS_MODEL": "m", "AZURE_OPENAI_API_KEY": "k"},
]
ADDRESSES = ("OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL")
