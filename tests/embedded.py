"""Lets the embedders of a process share the embedded model, and what it made of a text.

It is the real model. Each embedder of a test would load it anew and give it the same hundred examples first, which is a second
of work. The tests of the model itself turn this off, by `apart`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from utils.embeddings.minilm import MiniLmEmbedder

MOST = 20_000
"""Vectors that are kept: 30 MB."""

OWN = {name: MiniLmEmbedder.__dict__[name] for name in ("_session", "_tokenizer", "_run")}


@cache
def _model() -> MiniLmEmbedder:
    """The one that loads the model."""
    return MiniLmEmbedder()


@cache
def _part(name: str) -> Any:
    return OWN[name].func(_model())


_vectors: dict[tuple[int, ...], Any] = {}


def _run(embedder: MiniLmEmbedder, encoding: Any) -> Any:
    """The vector of a text's tokens, which is all that the model is given."""
    key = tuple(encoding.ids)
    vector = _vectors.get(key)
    if vector is None:
        vector = OWN["_run"](embedder, encoding)
        if len(_vectors) < MOST:
            _vectors[key] = vector
    return vector


def _shared(name: str) -> property:
    return property(lambda _: _part(name))


def share_model() -> None:
    """Make one session, one tokenizer and one vector for the same text, in this process."""
    for name in ("_session", "_tokenizer"):
        setattr(MiniLmEmbedder, name, _shared(name))
    MiniLmEmbedder._run = _run  # type: ignore[assignment, method-assign]


@contextmanager
def apart() -> Iterator[None]:
    """Each embedder loads the model and runs it for each text, as in the product."""
    for name, own in OWN.items():
        setattr(MiniLmEmbedder, name, own)
    try:
        yield
    finally:
        share_model()
