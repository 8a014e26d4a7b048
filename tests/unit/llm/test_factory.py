"""The factory makes each provider's model from settings, or says in one sentence what is missing."""

from __future__ import annotations

import sys
from typing import Any

import openai
import pytest
from langchain_aws import ChatBedrockConverse
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from langchain_openai.chat_models import _client_utils

from utils.context.settings import ContextSettings
from utils.errors import SettingsError
from utils.llm.embedded import EmbeddedChatModel
from utils.llm.factory import create_chat_model, describe_model
from utils.llm.reply.answer import read_answer
from utils.model_providers import PROVIDER_TRAITS
from utils.net.loopback import is_loopback
from utils.settings import LLMSettings, ModelProvider
from utils.testing.strict.anthropic_rules import SIGNATURE
from utils.testing.strict_provider import run_strict_provider

EACH = [one.value for one in ModelProvider if one is not ModelProvider.EMBEDDED]
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

CLAUDE = {"LLM_PROVIDER": "anthropic", "LLM_MODEL": "claude-sonnet-5", "ANTHROPIC_API_KEY": "k"}
GEMINI = {"LLM_PROVIDER": "google-gemini", "LLM_MODEL": "gemini-3-pro-preview", "GOOGLE_API_KEY": "k"}
VERTEX = {"LLM_PROVIDER": "gcp-vertexai", "LLM_MODEL": "gemini-3-pro-preview", "GOOGLE_CLOUD_PROJECT": "p"}


def settings(base: dict[str, str], **changes: str) -> LLMSettings:
    return LLMSettings.load(base | changes)


@pytest.fixture(autouse=True)
def no_aws_profile(monkeypatch, tmp_path):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))


def test_openai_takes_every_limit_from_the_settings():
    limits = {"LLM_TEMPERATURE": "0.3", "LLM_MAX_OUTPUT_TOKENS": "900", "LLM_TIMEOUT_SECONDS": "7"}
    model = create_chat_model(settings(OPENAI, LLM_STREAM_TIMEOUT_SECONDS="150", **limits))
    assert isinstance(model, ChatOpenAI)
    assert (model.model_name, model.temperature, model.max_tokens) == ("gpt-4.1", 0.3, 900)
    assert isinstance(model.request_timeout, openai.Timeout)
    assert (model.request_timeout.read, model.request_timeout.connect) == (150.5, 10)
    assert (model.stream_chunk_timeout, model.max_retries, model.stream_usage) == (150.5, 0, True)


def test_azure_uses_the_model_name_as_deployment():
    model = create_chat_model(settings(AZURE))
    assert isinstance(model, AzureChatOpenAI)
    assert (model.deployment_name, model.openai_api_version) == ("chat", "2024-10-21")


def test_bedrock_uses_the_converse_client_in_the_region():
    model = create_chat_model(settings(BEDROCK, LLM_TIMEOUT_SECONDS="90"))
    assert isinstance(model, ChatBedrockConverse)
    config = model.client.meta.config
    assert (model.client.meta.region_name, config.read_timeout) == ("eu-central-1", 90.5)
    assert config.retries["total_max_attempts"] == 1


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
        (CLAUDE, "ANTHROPIC_API_KEY"),
        (CLAUDE, "LLM_MODEL"),
        (GEMINI, "GOOGLE_API_KEY"),
        (VERTEX, "LLM_MODEL"),
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


@pytest.mark.listens
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


@pytest.mark.listens
@pytest.mark.parametrize("provider", EACH)
async def test_a_server_on_this_machine_is_reached_past_a_proxy(provider, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nothing listens there
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with run_strict_provider() as double:
        model = create_chat_model(LLMSettings.load(double.environment(provider) | {"LLM_MAX_RETRIES": "0"}))
        assert model.invoke("past it").text == "past it"
        assert (await model.ainvoke("past it")).text == "past it"


@pytest.mark.parametrize("base", [OPENAI, COMPATIBLE], ids=lambda one: one["LLM_PROVIDER"])
def test_a_server_on_this_machine_behind_a_proxy_is_nothing_to_warn_of(base, monkeypatch, caplog):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example.com:3128")
    monkeypatch.setattr(_client_utils, "_proxy_env_warning_emitted", False)  # else a process warns once
    create_chat_model(settings(base, OPENAI_BASE_URL="http://127.0.0.1:9/v1"))
    assert [record.getMessage() for record in caplog.records if "proxy" in record.getMessage()] == []


@pytest.mark.listens
@pytest.mark.parametrize("provider", EACH)
async def test_a_streamed_answer_tells_its_usage(provider):
    with run_strict_provider() as double:
        model = create_chat_model(LLMSettings.load(double.environment(provider)))
        used = [chunk.usage_metadata async for chunk in model.astream("hello") if chunk.usage_metadata]
        assert sum(usage["input_tokens"] for usage in used) == double.requests[0].tokens


@pytest.mark.listens
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


@pytest.mark.listens
@pytest.mark.parametrize("provider", EACH)
async def test_further_fields_and_headers_reach_the_provider(provider):
    extra = {"LLM_EXTRA_BODY": '{"top_p": 0.5}'}
    if provider != "aws-bedrock":
        extra["LLM_EXTRA_HEADERS"] = '{"X-Team": "platform"}'
    with run_strict_provider() as double:
        model = create_chat_model(LLMSettings.load(double.environment(provider) | extra))
        assert (await model.ainvoke("hello")).text == "hello"
        body, headers = double.requests[0].body, double.headers[0]
    assert "0.5" in str(body)
    assert headers.get(b"x-team") == (None if provider == "aws-bedrock" else b"platform")


def test_headers_are_refused_where_they_have_no_effect():
    with pytest.raises(SettingsError) as caught:
        create_chat_model(settings(BEDROCK, LLM_EXTRA_HEADERS='{"a": "b"}'))
    assert caught.value.variable == "LLM_EXTRA_HEADERS"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("LLM_EXTRA_BODY", "[1]"),
        ("LLM_EXTRA_BODY", "{"),
        ("LLM_EXTRA_HEADERS", '{"a": 1}'),
        ("LLM_EXTRA_HEADERS", '{"a": "secret\\nb"}'),
        ("LLM_REASONING_EFFORT", "a lot"),
    ],
)
def test_a_wrong_value_is_refused_and_not_shown(variable, value):
    with pytest.raises(SettingsError) as caught:
        settings(OPENAI, **{variable: value})
    assert caught.value.variable == variable
    assert value not in caught.value.message


def test_an_effort_is_sent_in_the_form_that_the_provider_takes():
    effort = {"LLM_REASONING_EFFORT": "low", "LLM_TEMPERATURE": "0.5"}
    openai_model: Any = create_chat_model(settings(OPENAI, **effort))
    assert (openai_model.use_responses_api, openai_model.reasoning) == (True, {"effort": "low"})
    assert (openai_model.temperature, openai_model.store) == (None, False)
    compatible: Any = create_chat_model(settings(COMPATIBLE, **effort))
    assert (compatible.reasoning_effort, compatible.use_responses_api) == ("low", False)
    assert create_chat_model(settings(AZURE, **effort)).reasoning_effort == "low"  # type: ignore[attr-defined]
    assert create_chat_model(settings(CLAUDE, LLM_REASONING_EFFORT="low")).reasoning_effort == "low"  # type: ignore[attr-defined]
    assert create_chat_model(settings(GEMINI, LLM_REASONING_EFFORT="low")).reasoning_effort == "low"  # type: ignore[attr-defined]
    with pytest.raises(SettingsError, match="Gemini has: minimal, low, medium, high"):
        create_chat_model(settings(GEMINI, LLM_REASONING_EFFORT="max"))


@pytest.mark.parametrize(("model", "taken"), [("gpt-4.1", 0.5), ("gpt-5-mini", None), ("o4-mini", None)])
def test_a_temperature_is_left_out_for_models_that_refuse_it(model, taken):
    made: Any = create_chat_model(settings(OPENAI, LLM_MODEL=model, LLM_TEMPERATURE="0.5"))
    assert made.temperature == taken


@pytest.mark.parametrize(
    ("base", "module"), [("CLAUDE", "langchain_anthropic"), ("GEMINI", "langchain_google_genai")]
)
def test_a_package_that_is_missing_is_said_with_the_command_that_installs_it(monkeypatch, base, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SettingsError) as caught:
        create_chat_model(settings({"CLAUDE": CLAUDE, "GEMINI": GEMINI}[base]))
    assert f"-m pip install '{module.replace('_', '-')}>=" in caught.value.message


def test_all_models_of_a_process_share_one_limit_of_requests():
    limit = {"LLM_REQUESTS_PER_MINUTE": "60", "LLM_REQUESTS_SHARE": "0.5"}
    models = [create_chat_model(settings(base, **limit)) for base in (OPENAI, BEDROCK, CLAUDE, GEMINI)]
    limiters = {id(model.rate_limiter) for model in models}
    assert len(limiters) == 1
    assert models[0].rate_limiter.requests_per_second == 0.5  # type: ignore[union-attr]
    assert create_chat_model(settings(OPENAI)).rate_limiter is None


@pytest.mark.listens
async def test_thoughts_of_claude_go_back_with_their_signature():
    block = {"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE}
    use = {"type": "tool_use", "id": "toolu_1", "name": "now", "input": {}}
    told = AIMessage(
        [block, use], tool_calls=[{"name": "now", "args": {}, "id": "toolu_1", "type": "tool_call"}]
    )
    history = [HumanMessage("x"), read_answer(told, {"now"}), ToolMessage("noon", tool_call_id="toolu_1")]
    with run_strict_provider() as double:
        model = create_chat_model(LLMSettings.load(double.environment("anthropic")))
        await model.bind_tools([{"name": "now", "input_schema": {"type": "object"}}]).ainvoke(history)
        assert double.requests[0].body["messages"][1]["content"][0] == block
