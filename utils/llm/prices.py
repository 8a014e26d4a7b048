"""Prices of tokens by model. Pure.

List prices in US dollars per million tokens, for requests that are answered at once and not very long: some
models cost more over 200,000 or 272,000 input tokens, and Bedrock's regional profiles cost more than its global ones.
Prices change and contracts differ: `MODEL_PRICES` adds and overrides. A model without a price costs an unknown
amount, which is reported as no cost at all and never guessed from a model of a similar name.

Each row was looked up on 2026-11-22 and is listed only if two sources agreed on input and output and none
contradicted the cached price:

- OpenAI: github.com/simonw/llm-prices (`data/openai.json`) and the rows quoted from OpenAI's pricing page by
  wavespeed.ai (GPT-5.5 and 5.4), kissapi.ai (5.4 mini and nano), deploybase.ai (GPT-5, 4.1; March 2026),
  the wiki of CommitBrief (4o; May 2026) and yingtu.ai (o4-mini; July 2026).
- Anthropic: platform.claude.com/docs, pages "Pricing" and the overviews of Opus 4.5, Opus 5 and Sonnet 5, and
  docs.anthropic.com (Sonnet 4); deploybase.ai for Sonnet 4.5 and 4.6 (March 2026), whose cached price is the tenth of
  the fresh one that the same pages give.
- Amazon: `data/amazon.json` of the first, and tables of AWS' price list quoted by pristren.com and swfte.com (May 2026).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from utils.errors import SettingsError
from utils.events import Usage
from utils.setting_values import price_table

_MILLION = 1_000_000
_VENDOR = re.compile(r"^(?:.*/)?(?:(?:[a-z]+(?:-[a-z]+)*\.)*(?:anthropic|amazon|openai)\.)?")
_VERSION = re.compile(r"(?:[-@](?:\d{4}-\d{2}-\d{2}|\d{8}))?(?:-v\d+(?::\d+)?)?$")


class Price(NamedTuple):
    """US dollars per million tokens: fresh input, output, and input that the provider had cached."""

    input: float
    output: float
    cached: float


PRICES: Mapping[str, Price] = {
    "gpt-5.5": Price(5.00, 30.00, 0.50),
    "gpt-5.4": Price(2.50, 15.00, 0.25),
    "gpt-5.4-mini": Price(0.75, 4.50, 0.075),
    "gpt-5.4-nano": Price(0.20, 1.25, 0.02),
    "gpt-5": Price(1.25, 10.00, 0.125),
    "gpt-5-mini": Price(0.25, 2.00, 0.025),
    "gpt-5-nano": Price(0.05, 0.40, 0.005),
    "gpt-4.1": Price(2.00, 8.00, 0.50),
    "gpt-4.1-mini": Price(0.40, 1.60, 0.10),
    "gpt-4.1-nano": Price(0.10, 0.40, 0.025),
    "gpt-4o": Price(2.50, 10.00, 1.25),
    "gpt-4o-mini": Price(0.15, 0.60, 0.075),
    "o4-mini": Price(1.10, 4.40, 0.275),
    "claude-opus-5": Price(5.00, 25.00, 0.50),
    "claude-opus-4-8": Price(5.00, 25.00, 0.50),
    "claude-opus-4-7": Price(5.00, 25.00, 0.50),
    "claude-opus-4-6": Price(5.00, 25.00, 0.50),
    "claude-opus-4-5": Price(5.00, 25.00, 0.50),
    "claude-sonnet-5": Price(2.00, 10.00, 0.20),
    "claude-sonnet-4-6": Price(3.00, 15.00, 0.30),
    "claude-sonnet-4-5": Price(3.00, 15.00, 0.30),
    "claude-sonnet-4": Price(3.00, 15.00, 0.30),
    "claude-haiku-4-5": Price(1.00, 5.00, 0.10),
    "nova-pro": Price(0.80, 3.20, 0.20),
    "nova-lite": Price(0.06, 0.24, 0.015),
    "nova-micro": Price(0.035, 0.14, 0.00875),
}
"""Prices by the model's name without vendor, region, date and version."""


def parse_prices(text: str) -> dict[str, Price]:
    """The prices of `model=input/output/cached` pairs, separated by commas.

    Raises:
        SettingsError: A pair is malformed or a price is below 0.
    """
    try:
        return {name: Price(*prices) for name, prices in price_table(text).items()}
    except ValueError as error:
        raise SettingsError("MODEL_PRICES", f"Setting MODEL_PRICES is wrong: {error}.") from error


def priced(usage: Usage, model: str, prices: Mapping[str, Price] = PRICES) -> Usage:
    """The same usage with its cost, or without one if the model's price is unknown."""
    price = _price(model, prices)
    if price is None:
        return usage
    fresh = max(0, usage.input_tokens - usage.cached_tokens)
    cost = fresh * price.input + usage.output_tokens * price.output + usage.cached_tokens * price.cached
    return replace(usage, cost_usd=cost / _MILLION)


def _price(model: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of a model. `gpt-5-mini` does not match `gpt-5`, but `us.anthropic.claude-haiku-4-5-20251001-v1:0` is known."""
    named = (name for name in (model, _VERSION.sub("", _VENDOR.sub("", model))) if name in prices)
    return next((prices[name] for name in named), None)
