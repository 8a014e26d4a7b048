"""What a model call cost: looked up by name, and never guessed."""

from __future__ import annotations

import pytest

from utils.errors import SettingsError
from utils.events import Usage
from utils.llm.prices import PRICES, Price, parse_prices, priced

USED = Usage(1_000_000, 1_000_000, 500_000)


def cost(model: str, prices: dict[str, Price] | None = None) -> float:
    return priced(USED, model, {**PRICES, **(prices or {})}).cost_usd


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-4o", 1.25 + 10 + 0.625),
        ("gpt-4o-2024-11-20", 1.25 + 10 + 0.625),
        ("gpt-5.4-mini", 0.375 + 4.5 + 0.0375),
        ("openai/gpt-5", 0.625 + 10 + 0.0625),
        ("claude-haiku-4-5-20251001", 0.5 + 5 + 0.05),
        ("claude-haiku-4-5@20251001", 0.5 + 5 + 0.05),
        ("anthropic.claude-sonnet-4-5-20250929-v1:0", 1.5 + 15 + 0.15),
        ("global.anthropic.claude-sonnet-4-20250514-v1:0", 1.5 + 15 + 0.15),
        (
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-lite-v1:0",
            0.03 + 0.24 + 0.0075,
        ),
    ],
)
def test_a_model_is_known_whatever_stands_around_its_name(model: str, expected: float) -> None:
    assert cost(model) == pytest.approx(expected)


@pytest.mark.parametrize(
    "model",
    [
        "gpt-5.4-pro", "gpt-5.6-sol", "gpt-5-pro", "gpt-4o-audio-preview", "o4-mini-deep-research", "o3",
        "claude-sonnet-4-7", "claude-opus-5-5", "nova-2-lite-v1:0", "my-gpt-4o", "gpt-4o-mine", "embedded", "",
    ],
)  # fmt: skip
def test_a_model_of_a_similar_name_has_no_price(model: str) -> None:
    assert priced(USED, model) is USED
    assert USED.cost_usd == 0


def test_an_operators_price_adds_to_the_known_ones_and_replaces_them() -> None:
    given = parse_prices("house-model=1/10/0.5, gpt-4o=1/2/3")
    assert cost("house-model", given) == pytest.approx(0.5 + 10 + 0.25)
    assert cost("gpt-4o-2024-11-20", given) == pytest.approx(0.5 + 2 + 1.5)
    assert cost("gpt-4.1", given) == pytest.approx(1 + 8 + 0.25)


def test_an_operators_price_for_one_version_counts_before_the_models() -> None:
    assert cost("gpt-4o-2024-05-13", parse_prices("gpt-4o-2024-05-13=5/15/5")) == pytest.approx(
        2.5 + 15 + 2.5
    )


@pytest.mark.parametrize(
    "text", ["gpt-4o", "gpt-4o=1/2", "=1/2/3", "gpt-4o=1/2/free", "gpt-4o=1/2/-3", "gpt-4o=1/2/nan"]
)
def test_a_malformed_price_is_a_wrong_setting(text: str) -> None:
    with pytest.raises(SettingsError, match="MODEL_PRICES"):
        parse_prices(text)


def test_cached_tokens_cost_less_and_output_costs_more_than_fresh_input() -> None:
    for name, price in PRICES.items():
        assert 0 < price.cached < price.input < price.output, name
