"""One double and one client of each provider for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from langchain_core.language_models import BaseChatModel

from utils.llm.factory import create_chat_model
from utils.settings import LLMSettings
from utils.testing.strict_provider import StrictProvider, run_strict_provider

PATIENT, HASTY = "20", "0.3"  # seconds that a client waits for an answer; hasty ones meet stalls


@pytest.fixture(scope="session", autouse=True)
def aws_credentials() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "AKIADOUBLE")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "double")
        yield


@pytest.fixture(scope="module")
def double() -> Iterator[StrictProvider]:
    with run_strict_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def model_of(double: StrictProvider) -> Callable[..., BaseChatModel]:
    made: dict[tuple[str, bool], BaseChatModel] = {}

    def make(provider: str, *, hasty: bool = False) -> BaseChatModel:
        limits = {"LLM_MAX_RETRIES": "0", "LLM_TIMEOUT_SECONDS": HASTY if hasty else PATIENT}
        if (provider, hasty) not in made:
            settings = LLMSettings.load(double.environment(provider) | limits)
            made[provider, hasty] = create_chat_model(settings)
        return made[provider, hasty]

    return make
