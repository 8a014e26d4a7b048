"""What every source of embeddings looks like to its users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into unit vectors, so that a dot product is the cosine similarity.

    Attributes:
        name: Identity of the model. Vectors of different names must never be compared or share a cache.
        dimensions: Length of a vector.
    """

    @property
    def name(self) -> str:
        """Identity of the model."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    def embed_sync(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of `texts` in their order, of shape (len(texts), dimensions). Blocks: call it off the loop.

        Raises:
            ModelFailure: A remote provider could not answer.
            SettingsError: A remote provider's credentials are missing or refused.
        """
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same without blocking the event loop."""
        ...
