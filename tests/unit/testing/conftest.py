"""A fresh double for each test of this folder, and real clients of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from langchain_core.language_models import BaseChatModel

from tests.provider import aws_credentials, double, running_double
from utils.llm.factory import create_chat_model
from utils.settings import LLMSettings
from utils.testing.strict_provider import StrictProvider

__all__ = ["aws_credentials", "double", "model_of", "running_double"]


@pytest.fixture
def model_of(double: StrictProvider) -> Callable[[str], BaseChatModel]:
    def make(provider: str) -> BaseChatModel:
        return create_chat_model(LLMSettings.load(double.environment(provider) | {"LLM_MAX_RETRIES": "0"}))

    return make
