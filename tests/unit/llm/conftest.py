"""One double and one client of each provider for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from langchain_core.language_models import BaseChatModel

from tests.provider import aws_credentials, double, running_double
from utils.llm.factory import create_chat_model
from utils.settings import LLMSettings
from utils.testing.strict_provider import StrictProvider

PATIENT, HASTY = "60", "3"  # seconds that a client waits for an answer; hasty ones meet stalls


__all__ = ["aws_credentials", "double", "model_of", "running_double"]


@pytest.fixture(scope="session")
def model_of(running_double: StrictProvider) -> Callable[..., BaseChatModel]:
    made: dict[tuple[str, bool], BaseChatModel] = {}

    def make(provider: str, *, hasty: bool = False) -> BaseChatModel:
        seconds = HASTY if hasty else PATIENT
        limits = {"LLM_TIMEOUT_SECONDS": seconds, "LLM_STREAM_TIMEOUT_SECONDS": seconds}
        if (provider, hasty) not in made:
            settings = LLMSettings.load(running_double.environment(provider) | limits)
            made[provider, hasty] = create_chat_model(settings)
        return made[provider, hasty]

    return make
