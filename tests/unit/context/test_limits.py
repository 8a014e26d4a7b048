import pytest

from utils.context.factory import policy_for
from utils.context.limits import get_context_limit_for_provider, get_context_window
from utils.context.policy import PRESETS, PipelineStage, caipe, pipelit, rag, research, standard, turns
from utils.context.settings import ContextSettings
from utils.settings import LLMSettings


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4o-mini", 128_000),
        ("gpt-4.1", 1_047_576),
        ("gpt-4", 8_192),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000),
        ("amazon.nova-pro-v1:0", 300_000),
        ("nobody-knows", 128_000),
        (None, 128_000),
    ],
)
def test_the_window_of_a_model_comes_from_its_name_else_128k(model, window):
    assert get_context_window(model) == window


def test_an_override_wins_over_the_profile_and_the_profile_over_the_table():
    profile = {"max_input_tokens": 5_000}
    assert get_context_window("gpt-4o", {"context_window": 32_000}, profile=profile) == 32_000
    assert get_context_window("gpt-4o", 16_000) == 16_000
    assert get_context_window("gpt-4o", None, profile=profile) == 5_000
    assert get_context_window("gpt-4o", {}, profile={}) == 128_000


def test_a_providers_own_variable_wins_over_the_common_one_and_that_over_the_table():
    settings = ContextSettings.load(
        {"AWS_BEDROCK_MAX_CONTEXT_TOKENS": "90000", "MAX_CONTEXT_TOKENS": "70000"}
    )
    assert get_context_limit_for_provider("aws-bedrock", settings) == 90_000
    assert get_context_limit_for_provider("openai", settings) == 70_000
    assert get_context_limit_for_provider("aws-bedrock") == 100_000
    assert get_context_limit_for_provider("openai", ContextSettings.load({})) == 128_000


@pytest.mark.parametrize("bad", ["abc", "-5", "0", "1.5", "12k"])
def test_a_wrong_limit_is_named_and_falls_through(bad):
    settings = ContextSettings.load({"OPENAI_MAX_CONTEXT_TOKENS": bad, "MAX_CONTEXT_TOKENS": "50000"})
    assert settings.ignored == ("OPENAI_MAX_CONTEXT_TOKENS",)
    assert get_context_limit_for_provider("openai", settings) == 50_000


@pytest.mark.parametrize(
    ("provider", "variable", "without"),
    [
        ("aws-bedrock", "AWS_BEDROCK_MAX_CONTEXT_TOKENS", 100_000),
        ("openai", "OPENAI_MAX_CONTEXT_TOKENS", 128_000),
        ("openai-compatible", "OPENAI_MAX_CONTEXT_TOKENS", 32_000),
        ("azure-openai", "AZURE_OPENAI_MAX_CONTEXT_TOKENS", 128_000),
        ("anthropic", "ANTHROPIC_MAX_CONTEXT_TOKENS", 100_000),
        ("google-gemini", "GOOGLE_GEMINI_MAX_CONTEXT_TOKENS", 128_000),
        ("gcp-vertexai", "GCP_VERTEXAI_MAX_CONTEXT_TOKENS", 128_000),
    ],
)
def test_the_limit_of_an_agent_follows_from_the_provider_that_is_configured(provider, variable, without):
    def window(**environ: str) -> int:
        settings = {"LLM_PROVIDER": provider, "LLM_MODEL": "a-model-of-nobody", **environ}
        return policy_for(LLMSettings.load(settings), ContextSettings.load(settings)).window

    assert window() == get_context_limit_for_provider(provider) == without
    assert window(MAX_CONTEXT_TOKENS="70000") == 70_000
    assert window(**{"MAX_CONTEXT_TOKENS": "70000", variable: "90000"}) == 90_000
    assert window(**{"MAX_CONTEXT_TOKENS": "70000", variable: "many"}) == 70_000
    others = {"ANTHROPIC_MAX_CONTEXT_TOKENS", "OPENAI_MAX_CONTEXT_TOKENS", "AZURE_OPENAI_MAX_CONTEXT_TOKENS"}
    assert window(**dict.fromkeys(others - {variable}, "90000")) == without


def test_the_limit_of_a_model_that_is_known_is_its_own_unless_one_is_set():
    def window(**environ: str) -> int:
        settings = {"LLM_PROVIDER": "aws-bedrock", "LLM_MODEL": "us.anthropic.claude-sonnet-4-5", **environ}
        return policy_for(LLMSettings.load(settings), ContextSettings.load(settings)).window

    assert window() == 200_000
    assert window(AWS_BEDROCK_MAX_CONTEXT_TOKENS="100000") == 100_000


def test_the_input_budget_leaves_room_for_the_answer_and_a_margin():
    assert standard(128_000).input_budget == 128_000 - 16_384 - 512
    assert standard(2_048).input_budget == 2_048 - 512 - 64


def test_presets_have_the_numbers_of_the_systems_that_they_reproduce():
    assert (caipe(100_000).tokens(0.8), caipe(100_000).summarise_to) == (80_000, 0.5)
    policy = rag(262_144)
    assert policy.tokens(policy.compress_at) == 222_822
    assert (policy.tokens(policy.compress_to), policy.compress_ratio) == (209_715, 0.3)
    policy = research(128_000)
    assert (policy.summarise_at_tokens, policy.max_summary_tokens, policy.keep_messages) == (80_000, 2_000, 5)
    assert pipelit(128_000).reserve == 16_384
    assert not pipelit(128_000).use_model
    assert turns(128_000).max_turns == 10
    assert set(PRESETS) == {"standard", "caipe", "rag", "research", "pipelit", "turns"}


def test_an_agent_gets_its_policy_from_the_settings():
    context = ContextSettings.load(
        {
            "CONTEXT_POLICY": "caipe",
            "CONTEXT_SUMMARISE_AT": "0.7",
            "MAX_TOOL_OUTPUT_SIZE": "50000",
            "ENABLE_AUTO_COMPRESSION": "false",
            "CONTEXT_OUTPUT_RESERVE": "2000",
        }
    )
    policy = policy_for(LLMSettings.load({"LLM_PROVIDER": "openai", "LLM_MODEL": "gpt-4o"}), context)
    assert (policy.window, policy.summarise_at, policy.max_tool_output, policy.reserve) == (
        128_000,
        0.7,
        50_000,
        2_000,
    )
    assert policy.stages == {PipelineStage.TRUNCATE, PipelineStage.SUMMARISE}
    assert not policy.use_model
    assert policy.keep_messages == 10
