"""What providers have shown of their models' windows, by model and address, for an hour.

Only a pair of answers proves a window: a request that was refused, and the smaller one that was then accepted. A
refusal alone may be an error, and is not remembered.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

SMALLEST = 1_024
"""Smallest limit that is believed; a smaller number in a refusal is treated as if no limit had been named."""

REMEMBERED_SECONDS = 3_600.0
"""How long a window counts; after that the assumed one is tried again, since a server may have been restarted with another."""


class ModelKey(NamedTuple):
    """A model and the address that serves it."""

    model: str
    address: str


@dataclass(frozen=True, slots=True)
class LearntWindow:
    """A window that a request has been accepted in.

    Attributes:
        tokens: The window, in tokens as the provider charges them.
        ratio: Least ratio of charged to counted tokens.
        until: Time at which it expires.
    """

    tokens: int
    ratio: float
    until: float


class LearntWindows:
    """The windows of models, learnt from refusals.

    Args:
        seconds: How long a window counts.
        clock: A clock in seconds.
    """

    def __init__(
        self, seconds: float = REMEMBERED_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._known: dict[ModelKey, LearntWindow] = {}

    def of(self, key: ModelKey) -> LearntWindow | None:
        """What is known of a model at an address; `None` if nothing is, or not any more."""
        known = self._known.get(key)
        if known is not None and self._clock() >= known.until:
            del self._known[key]
            return None
        return known

    def learn(self, key: ModelKey, tokens: int, ratio: float) -> None:
        """Record the window in which a request was accepted after a larger one had been refused."""
        until = self._clock() + self._seconds
        self._known[key] = LearntWindow(max(tokens, SMALLEST), ratio, until)


def key_of(model: Any) -> ModelKey:
    """The key of a chat model of any client."""
    names = ("model_name", "deployment_name", "model_id", "model")
    addresses = ("openai_api_base", "azure_endpoint", "endpoint_url", "base_url", "region_name")
    return ModelKey(_first(model, names) or type(model).__name__, _first(model, addresses))


def _first(model: Any, attributes: tuple[str, ...]) -> str:
    found = (getattr(model, attribute, None) for attribute in attributes)
    return next((str(each) for each in found if isinstance(each, str) and each), "")
