"""The one door to embeddings: vectors that are close when two texts mean the same.

`create_embedder` reads the settings and gives an `Embedder`, or `None` where the provider is `none`
and callers search by words alone. Importing this package is cheap: the model and the providers'
clients are imported when the first embedder is made.
"""

from __future__ import annotations

from utils.embeddings.embedder import Embedder
from utils.embeddings.factory import create_embedder

__all__ = ["Embedder", "create_embedder"]
