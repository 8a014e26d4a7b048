"""The factory makes each provider's model from settings, or says in one sentence what is missing."""

from __future__ import annotations

import pytest
from langchain_aws import ChatBedrockConverse
from langchain_openai import AzureChatOpenAI, ChatOpenAI

from utils.context.settings import ContextSettings
from utils.errors import SettingsError
from utils.llm.embedded import EmbeddedChatModel
from utils.llm.factory import create_chat_model, describe_model
from utils.model_providers import PROVIDER_TRAITS
from utils.net.loopback import is_loopback
from utils.settings import LLMSettings, ModelProvider
from utils.testing.strict_provider import run_strict_provider

OPENAI = {"LLM_PROVIDER": "openai", "LLM_MODEL": "gpt-4.1", "OPENAI_API_KEY": "sk-test"}
AZURE = {
    "LLM_PROVIDER": "azure-openai",
    "LLM_MODEL": "chat",
    "AZURE_OPENAI_API_KEY": "k",
    "AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com",
}
BEDROCK = {
    "LLM_PROVIDER": "aws-bedrock",
    "LLM_MODEL": "anthropic.claude-sonnet-4-5-20250929-v1:0",
    "AWS_REGION": "eu-central-1",
}
COMPATIBLE = {
    "LLM_PROVIDER": "openai-compatible",
    "LLM_MODEL": "qwen",
    "OPENAI_BASE_URL": "http://llm.internal:8000/v1",
}


def settings(base: dict[str, str], **changes: str) -> LLMSettings:
    return LLMSettings.load(base | changes)


@pytest.fixture(autouse=True)
def no_aws_profile(monkeypatch, tmp_path):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))


def test_openai_takes_every_limit_from_the_settings():
    limits = {"LLM_TEMPERATURE": "0.3", "LLM_MAX_OUTPUT_TOKENS": "900", "LLM_TIMEOUT_SECONDS": "7"}
    model = create_chat_model(settings(OPENAI, LLM_MAX_RETRIES="4", **limits))
    assert isinstance(model, ChatOpenAI)
    assert (model.model_name, model.temperature, model.max_tokens) == ("gpt-4.1", 0.3, 900)
    assert (model.request_timeout, model.max_retries, model.stream_usage) == (7, 4, True)


def test_azure_uses_the_model_name_as_deployment():
    model = create_chat_model(settings(AZURE))
    assert isinstance(model, AzureChatOpenAI)
    assert (model.deployment_name, model.openai_api_version) == ("chat", "2024-10-21")


def test_bedrock_uses_the_converse_client_in_the_region():
    model = create_chat_model(settings(BEDROCK, LLM_TIMEOUT_SECONDS="9", LLM_MAX_RETRIES="1"))
    assert isinstance(model, ChatBedrockConverse)
    config = model.client.meta.config
    assert (model.client.meta.region_name, config.read_timeout) == ("eu-central-1", 9)
    assert config.retries["total_max_attempts"] == 2


def test_bedrock_finds_the_region_where_boto_does(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    without = {name: value for name, value in BEDROCK.items() if name != "AWS_REGION"}
    model = create_chat_model(LLMSettings.load(without))
    assert isinstance(model, ChatBedrockConverse)
    assert model.client.meta.region_name == "us-west-2"


def test_a_compatible_server_needs_no_key():
    model = create_chat_model(settings(COMPATIBLE))
    assert isinstance(model, ChatOpenAI)
    assert model.openai_api_base == "http://llm.internal:8000/v1"
    assert model.stream_usage is True


@pytest.mark.parametrize(
    ("base", "missing"),
    [
        (OPENAI, "OPENAI_API_KEY"),
        (OPENAI, "LLM_MODEL"),
        (AZURE, "AZURE_OPENAI_API_KEY"),
        (AZURE, "AZURE_OPENAI_ENDPOINT"),
        (AZURE, "LLM_MODEL"),
        (BEDROCK, "AWS_REGION"),
        (BEDROCK, "LLM_MODEL"),
        (COMPATIBLE, "OPENAI_BASE_URL"),
        (COMPATIBLE, "LLM_MODEL"),
    ],
)
def test_a_missing_setting_is_named_in_one_sentence(base, missing):
    given = {name: value for name, value in base.items() if name != missing}
    with pytest.raises(SettingsError) as caught:
        create_chat_model(LLMSettings.load(given))
    assert caught.value.variable == missing
    assert caught.value.message == f"Set {missing}: LLM_PROVIDER={base['LLM_PROVIDER']} needs it."


@pytest.mark.parametrize(
    ("base", "variable"),
    [
        (OPENAI, "OPENAI_BASE_URL"),
        (COMPATIBLE, "OPENAI_BASE_URL"),
        (AZURE, "AZURE_OPENAI_ENDPOINT"),
        (BEDROCK, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
    ],
)
@pytest.mark.parametrize("address", ["llm.internal:8000/v1", "http://llm.internal:port", "http://"])
def test_what_is_no_address_is_refused_at_start(base, variable, address):
    with pytest.raises(SettingsError) as caught:
        create_chat_model(settings(base, **{variable: address}))
    assert caught.value.variable == variable


def test_a_model_id_that_the_client_refuses_names_the_variable():
    arn = "arn:aws:bedrock:eu-central-1:1:application-inference-profile/x"
    with pytest.raises(SettingsError) as caught:
        create_chat_model(settings(BEDROCK, LLM_MODEL=arn))
    assert caught.value.variable == "LLM_MODEL"


def test_a_region_or_profile_that_is_none_is_named(monkeypatch):
    with pytest.raises(SettingsError) as caught:
        create_chat_model(settings(BEDROCK, AWS_REGION="somewhere nice!"))
    assert caught.value.variable == "AWS_REGION"
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    without = {name: value for name, value in BEDROCK.items() if name != "AWS_REGION"}
    with pytest.raises(SettingsError) as caught:
        create_chat_model(LLMSettings.load(without))
    assert caught.value.variable == "AWS_PROFILE"


def test_the_embedded_model_gets_its_embedder_only_when_it_is_asked_for():
    asked: list[str] = []

    def embedder() -> None:
        asked.append("embedder")

    create_chat_model(settings(OPENAI), embedder_factory=embedder)
    assert asked == []
    model = create_chat_model(LLMSettings.load({}), embedder_factory=embedder)
    assert isinstance(model, EmbeddedChatModel)
    assert (asked, model.embedder) == (["embedder"], None)


def test_a_compatible_server_gets_the_limit_under_the_name_it_knows():
    with run_strict_provider() as double:
        environment = double.environment("openai-compatible") | {"LLM_MAX_OUTPUT_TOKENS": "2"}
        assert create_chat_model(LLMSettings.load(environment)).invoke("one two three").text == "one two"
        body = double.requests[0].body
    assert (body["max_tokens"], "max_completion_tokens" in body) == (2, False)


def test_the_model_is_described_in_a_few_words():
    assert describe_model(LLMSettings.load({})) == "offline model"
    assert describe_model(settings(OPENAI)) == "openai gpt-4.1"
    assert describe_model(settings(BEDROCK)).startswith("aws-bedrock anthropic.claude")


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:1", True),
        ("http://127.8.0.1/v1", True),
        ("http://localhost:8", True),
        ("http://[::1]:9/v1", True),
        ("http://llm.localhost/", True),
        ("https://api.openai.com", False),
        ("http://127.0.0.1.example.com", False),
        (None, False),
    ],
)
def test_only_addresses_of_this_machine_bypass_proxies(url, here):
    assert is_loopback(url) is here


@pytest.mark.parametrize("provider", ["openai", "openai-compatible", "azure-openai", "aws-bedrock"])
async def test_a_server_on_this_machine_is_reached_past_a_proxy(provider, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nothing listens there
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with run_strict_provider() as double:
        model = create_chat_model(LLMSettings.load(double.environment(provider) | {"LLM_MAX_RETRIES": "0"}))
        assert model.invoke("past it").text == "past it"
        assert (await model.ainvoke("past it")).text == "past it"


@pytest.mark.parametrize("provider", ["openai", "openai-compatible", "azure-openai", "aws-bedrock"])
async def test_a_streamed_answer_tells_its_usage(provider):
    with run_strict_provider() as double:
        model = create_chat_model(LLMSettings.load(double.environment(provider)))
        used = [chunk.usage_metadata async for chunk in model.astream("hello") if chunk.usage_metadata]
        assert [usage["input_tokens"] for usage in used] == [double.requests[0].tokens]


def test_limits_of_the_settings_reach_the_provider():
    limits = {"LLM_MAX_OUTPUT_TOKENS": "3", "LLM_TEMPERATURE": "0.25"}
    with run_strict_provider() as double:
        for provider in ("openai", "aws-bedrock"):
            model = create_chat_model(LLMSettings.load(double.environment(provider) | limits))
            assert model.invoke("one two three four five").text == "one two three"
        openai, bedrock = (request.body for request in double.requests)
        assert openai["temperature"] == bedrock["inferenceConfig"]["temperature"] == 0.25


@pytest.mark.parametrize("provider", ModelProvider)
def test_every_provider_has_a_row_of_traits_whose_setting_exists(provider):
    assert PROVIDER_TRAITS[provider].window_setting in ContextSettings.model_fields
