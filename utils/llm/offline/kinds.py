"""What kind a request is: for the documents, for GitHub, a change, for nobody here, or small talk.

A network with one hidden layer over the sentence's vector of the embedded model and a few signs of its own. Its weights, `kinds.txt`,
are learnt by `python -m tests.eval.kinds` from sentences that people wrote who had not seen the code, and hold for that model's
vectors alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from utils.embeddings.cache import unstored
from utils.llm.offline import entities
from utils.llm.offline.particulars import links_in_words, masked
from utils.llm.offline.words import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from utils.embeddings import Embedder

    Floats = NDArray[np.float32]

MODEL = "all-MiniLM-L6-v2-onnx-int8"
"""The model whose vectors the weights are learnt from."""
SIGN = 0.3
"""What a sign counts against the vector, whose length is 1."""
LONG = 20
"""Words of a sentence that count as one sign."""
WEIGHTS = Path(__file__).with_suffix(".txt")


class RequestKind(Enum):
    """What a request is."""

    DOCUMENTS = "docs"
    GITHUB = "github"
    CHANGE = "change"
    OUTSIDE = "outside"
    TALK = "smalltalk"


def kinds_of(text: str, embedder: Embedder | None) -> Mapping[RequestKind, float]:
    """The share of each kind, together 1; empty without the embedded model."""
    if embedder is None or embedder.name != MODEL or not text.strip():
        return {}
    import numpy as np

    first, first_bias, second, second_bias = _weights()
    hidden = np.maximum(features([text], embedder)[0] @ first + first_bias, 0)
    scores = hidden @ second + second_bias
    shares = np.exp(scores - scores.max())
    return dict(zip(RequestKind, (shares / shares.sum()).tolist(), strict=True))


def features(texts: Sequence[str], embedder: Embedder) -> Floats:
    """What the network reads of each text: the vector of what is asked, without its particulars, and the signs."""
    import numpy as np

    vectors = unstored(embedder).embed_sync([masked(text) for text in texts])
    signs = np.array([_signs(text) for text in texts], dtype=np.float32)
    return np.hstack([vectors, SIGN * signs])


def _signs(text: str) -> list[float]:
    """Whether a repository, a number and a path are named, whether it is a question, and how long it is."""
    reading = links_in_words(text)
    named = (entities.repository(reading), entities.numbers(reading), entities.path(reading), "?" in text)
    return [*(float(bool(each)) for each in named), len(words(text)) / LONG]


@lru_cache(maxsize=1)
def _weights() -> tuple[Floats, ...]:
    """The matrices and their offsets: whole numbers, a row a line, after a line with the number that one stands for."""
    import numpy as np

    parts = WEIGHTS.read_text(encoding="utf-8").strip().split("\n\n")
    read = []
    for part in parts:
        unit, *rows = part.split("\n")
        matrix = np.array([[int(each) for each in row.split()] for row in rows], dtype=np.float32)
        read.append(float(unit) * (matrix if len(rows) > 1 else matrix[0]))
    return tuple(read)
