"""Arithmetic that all embedders share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALLEST_NORM = 1e-12  # below it a vector has no direction; it is left at zero


def normalised(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row at length one, in float32."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float32] = (rows / np.maximum(lengths, SMALLEST_NORM)).astype(np.float32)
    return unit
