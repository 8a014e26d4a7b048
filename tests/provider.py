"""The strict provider double as fixtures: one for each worker, empty again for each test. A conftest imports them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from utils.testing.strict_provider import StrictProvider, run_strict_provider


@pytest.fixture(scope="session", autouse=True)
def aws_credentials() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "AKIADOUBLE")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "double")
        yield


@pytest.fixture(scope="session")
def running_double(listens: None) -> Iterator[StrictProvider]:
    with run_strict_provider() as provider:
        yield provider


@pytest.fixture
def double(running_double: StrictProvider, monkeypatch: pytest.MonkeyPatch) -> StrictProvider:
    # text that may become a call is shown after a while, which a busy machine takes for a short answer
    monkeypatch.setattr("utils.llm.reply.answer_stream.LONGEST_HOLD", 60.0)
    running_double.reset()
    return running_double
