"""A fresh double for each test of this folder, and real clients of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from langchain_core.language_models import BaseChatModel

from utils.llm.factory import create_chat_model
from utils.settings import LLMSettings
from utils.testing.strict_provider import StrictProvider, run_strict_provider


@pytest.fixture(scope="session", autouse=True)
def aws_credentials() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "AKIADOUBLE")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "double")
        yield


@pytest.fixture(scope="module")
def running() -> Iterator[StrictProvider]:
    with run_strict_provider() as provider:
        yield provider


@pytest.fixture
def double(running: StrictProvider) -> StrictProvider:
    running.reset()
    return running


@pytest.fixture
def model_of(double: StrictProvider) -> Callable[[str], BaseChatModel]:
    def make(provider: str) -> BaseChatModel:
        return create_chat_model(LLMSettings.load(double.environment(provider) | {"LLM_MAX_RETRIES": "0"}))

    return make
