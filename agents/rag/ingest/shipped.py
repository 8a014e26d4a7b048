"""Vectors that come with the repository: of the passages of its own documents, by the hash of their text.

A text file of a line per passage, in the order of the hashes, so that two branches which change different
documents merge. A passage whose text has changed has another hash and is embedded at start; `make docs` writes its
vector. Numbers are rounded to int8, which moves a cosine by less than 0.001.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    import numpy as np

    from agents.rag.index.vectors import Matrix, Vector

log = structlog.get_logger(__name__)

SHIPPED_FILE = Path(__file__).with_name("shipped_vectors.txt")
_KEY_BYTES = 16
_LARGEST = 127


def key_of(text: str) -> str:
    """What a passage is known by."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_KEY_BYTES].hex()


@dataclass(frozen=True, slots=True)
class Shipped:
    """Encoded vectors of one model, all of one length, by key."""

    model: str
    dimensions: int
    encoded: Mapping[str, str]

    def vectors(self, texts: Iterable[str]) -> list[Vector | None]:
        """The vector of each text, of length 1; `None` where there is none."""
        return [self._vector(self.encoded.get(key_of(text))) for text in texts]

    def _vector(self, encoded: str | None) -> Vector | None:
        import numpy as np

        if encoded is None:
            return None
        try:
            rounded = np.frombuffer(base64.b64decode(encoded, validate=True), dtype=np.int8)
        except binascii.Error:
            return None
        vector: Vector = rounded.astype(np.float32)
        length = float(np.linalg.norm(vector))
        if len(rounded) != self.dimensions or not length:
            return None
        return vector / np.float32(length)


def read_shipped(path: Path = SHIPPED_FILE) -> Shipped:
    """The vectors of a file; none where there is no such file."""
    try:
        rows = [line.split(" ") for line in path.read_text(encoding="ascii").splitlines()]
        (_, model, dimensions), *vectors = rows
        size = int(dimensions)
    except (OSError, ValueError):
        log.warning("rag.shipped_vectors_unreadable", effect="the documents are embedded at start")
        return Shipped("", 0, {})
    return Shipped(model, size, {row[0]: row[1] for row in vectors if len(row) == 2})  # noqa: PLR2004 - key, vector


def encode(vector: Vector) -> str:
    """A vector as it stands in the file."""
    import numpy as np

    largest = float(np.abs(vector).max()) or 1.0
    rounded: np.ndarray[tuple[int], np.dtype[np.int8]] = np.rint(vector * (_LARGEST / largest)).astype(
        np.int8
    )
    return base64.b64encode(rounded.tobytes()).decode("ascii")


def write_shipped(shipped: Shipped, path: Path = SHIPPED_FILE) -> None:
    """Write the file."""
    rows = [f"{key} {vector}\n" for key, vector in sorted(shipped.encoded.items())]
    path.write_text(f"model {shipped.model} {shipped.dimensions}\n{''.join(rows)}", encoding="ascii")


def encode_all(texts: Iterable[str], vectors: Matrix) -> dict[str, str]:
    """Encoded vectors of texts by their keys."""
    return {key_of(text): encode(vector) for text, vector in zip(texts, vectors, strict=True)}
