"""Rows of a table of tests of which `make test` runs some, and `make ci` all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet


def mostly_long(rows: Iterable[Any], each: int) -> list[ParameterSet]:
    """The rows; of `each` of them in a row all but the first are more of the same, and marked `long`."""
    return [
        pytest.param(row, marks=pytest.mark.long if place % each else ()) for place, row in enumerate(rows)
    ]
