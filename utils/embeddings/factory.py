"""Settings in, embedder out."""

from __future__ import annotations

from pathlib import Path

from utils.embeddings.embedder import Embedder
from utils.encryption.codec import PLAIN, Codec
from utils.settings import EmbeddingSettings, EmbeddingsProvider


def create_embedder(
    settings: EmbeddingSettings, *, cache: Path | None, codec: Codec = PLAIN
) -> Embedder | None:
    """The embedder that the settings ask for; `None` for the provider `none`.

    Args:
        settings: Which provider and model.
        cache: Folder for the file of known vectors; `None` keeps them in memory only.
        codec: Encrypts that file.

    Raises:
        SettingsError: The provider needs a setting that is missing or wrong. Names the variable.
    """
    if settings.provider is EmbeddingsProvider.NONE:
        return None
    from utils.embeddings.cache import CachedEmbedder

    return CachedEmbedder(_bare(settings), cache, codec=codec)


def _bare(settings: EmbeddingSettings) -> Embedder:
    if settings.provider is EmbeddingsProvider.EMBEDDED:
        from utils.embeddings.minilm import MiniLmEmbedder

        return MiniLmEmbedder()
    from utils.embeddings.remote import create_remote

    return create_remote(settings)
