"""The provider that the rows are answered by."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from utils.llm.reply import answer_stream
from utils.testing.strict_provider import StrictProvider, run_strict_provider


@pytest.fixture(scope="module")
def double() -> Iterator[StrictProvider]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answer_stream, "LONGEST_HOLD", 60.0)  # no test is about time, and machines are slow
        patch.setenv("AWS_ACCESS_KEY_ID", "AKIADOUBLE")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "double")
        with run_strict_provider() as provider:
            yield provider
