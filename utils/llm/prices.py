"""What tokens cost, by model. Pure.

List prices in US dollars per million tokens, of June 2026, from the providers' pricing pages. They
change and contracts differ: `MODEL_PRICES` adds and overrides. A model without a price costs an
unknown amount, which is reported as no cost at all and never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from utils.errors import SettingsError
from utils.events import Usage

_MILLION = 1_000_000


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
    "o3": Price(2.00, 8.00, 0.50),
    "o4-mini": Price(1.10, 4.40, 0.275),
    "claude-opus-4-5": Price(5.00, 25.00, 0.50),
    "claude-sonnet-4": Price(3.00, 15.00, 0.30),
    "claude-haiku-4-5": Price(1.00, 5.00, 0.10),
    "nova-pro": Price(0.80, 3.20, 0.20),
    "nova-lite": Price(0.06, 0.24, 0.015),
    "nova-micro": Price(0.035, 0.14, 0.00875),
}
"""By the beginning of the model's name; the longest that fits counts."""


def parse_prices(text: str) -> dict[str, Price]:
    """The prices of `model=input/output/cached` pairs, separated by commas.

    Raises:
        SettingsError: A pair is malformed or a price is below 0.
    """
    found = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, _, numbers = pair.partition("=")
        try:
            price = Price(*(float(number) for number in numbers.split("/")))
        except (TypeError, ValueError):
            price = Price(-1, -1, -1)
        if not name.strip() or not all(0 <= each < float("inf") for each in price):
            raise SettingsError(
                "MODEL_PRICES", f"Write MODEL_PRICES as model=input/output/cached, not {pair!r}."
            )
        found[name.strip()] = price
    return found


def priced(usage: Usage, model: str, prices: Mapping[str, Price] = PRICES) -> Usage:
    """The same tokens with their cost; without one where the model's price is not known."""
    price = _price(model, prices)
    if price is None:
        return usage
    fresh = max(0, usage.input_tokens - usage.cached_tokens)
    cost = fresh * price.input + usage.output_tokens * price.output + usage.cached_tokens * price.cached
    return replace(usage, cost_usd=cost / _MILLION)


def _price(model: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of a model; regions and vendors before its name, as Bedrock writes them, do not count."""
    fitting = [name for name in prices if model.startswith(name) or f".{name}" in model]
    return prices[max(fitting, key=len)] if fitting else None
