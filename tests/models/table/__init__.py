"""The rows, by what is wrong or different."""

from __future__ import annotations

from collections.abc import Sequence

from tests.models.row import Row
from tests.models.table import (
    calls,
    claude,
    endings,
    faults,
    gemini,
    responses,
    set_up,
    text_calls,
    thoughts,
    usage,
)

ROWS: Sequence[Row] = [
    *text_calls.ROWS,
    *calls.ROWS,
    *thoughts.ROWS,
    *endings.ROWS,
    *usage.ROWS,
    *faults.ROWS,
    *set_up.ROWS,
    *claude.ROWS,
    *gemini.ROWS,
    *responses.ROWS,
]
