"""What context management does besides the limits of `utils.settings.ContextSettings`."""

from __future__ import annotations

from pydantic import Field

from utils.settings import EnvSettings


class PinSettings(EnvSettings):
    """Who finds the constraints that a user states: rules always, the model where it is asked."""

    with_model: bool = Field(
        True,
        alias="CONTEXT_PINS_BY_MODEL",
        description="Whether the model is asked, after an answer, which constraints the user's message states; "
        "the offline model never is.",
    )
    seconds: float = Field(
        30,
        alias="CONTEXT_PINS_SECONDS",
        gt=0,
        description="Seconds after which that question is given up.",
    )
