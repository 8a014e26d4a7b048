"""Settings of what a task may use."""

from __future__ import annotations

from pydantic import Field, field_validator

from utils.environment import EnvSettings
from utils.setting_values import price_table


class BudgetSettings(EnvSettings):
    """Budget of one task with its sub-agents: tokens, cost, steps and seconds."""

    tokens: int | None = Field(
        None, alias="TASK_BUDGET_TOKENS", gt=0, description="Input and output tokens of one task."
    )
    cost_usd: float | None = Field(
        None,
        alias="TASK_BUDGET_COST_USD",
        gt=0,
        description="US dollars of one task, as far as the prices of its models are known.",
    )
    steps: int | None = Field(None, alias="TASK_BUDGET_STEPS", gt=0, description="Model calls of one task.")
    seconds: float | None = Field(
        None,
        alias="TASK_BUDGET_SECONDS",
        gt=0,
        description="Seconds after which a turn ends with what it has; before TURN_TIMEOUT_SECONDS fails it.",
    )
    prices: str = Field(
        "",
        alias="MODEL_PRICES",
        description="Prices that add to or replace the known ones: model=input/output/cached in US dollars per "
        "million tokens, separated by commas.",
    )

    @field_validator("prices")
    @classmethod
    def _each_is_a_price(cls, value: str) -> str:
        price_table(value)
        return value
