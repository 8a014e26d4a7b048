"""Maps one event of an agent to metric observations. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from utils.events import (
    AgentEvent,
    ContextCompacted,
    DelegationFinished,
    Failed,
    ModelRetried,
    Usage,
    UsageReported,
)
from utils.observability import catalogue
from utils.observability.metrics import Observation

DIRECTIONS = ("input", "output", "cached")


def observations(event: AgentEvent, agent: str) -> Iterator[Observation]:
    """The observations of an event of a turn of `agent`.

    Tool calls and model calls are counted where they are made, since their events lack some of the labels.
    `TurnMeter` counts the end of a turn.
    """
    match event:
        case DelegationFinished(agent=target, state=state, seconds=seconds):
            yield Observation(catalogue.DELEGATIONS, 1, {"agent": target, "state": state.value})
            yield Observation(catalogue.DELEGATION_SECONDS, seconds, {"agent": target})
        case ContextCompacted(strategy=strategy):
            labels = {"agent": agent, "strategy": strategy}
            yield Observation(catalogue.COMPACTIONS, 1, labels)
            yield Observation(
                catalogue.SAVED_TOKENS, max(0, event.tokens_before - event.tokens_after), labels
            )
        case ModelRetried(reason=reason):
            yield Observation(catalogue.RETRIES, 1, {"reason": reason})
        case Failed(code=code):
            yield Observation(catalogue.FAILURES, 1, {"agent": agent, "code": code})
        case UsageReported(by_agent=by_agent):
            for name, usage in by_agent.items():
                if name != agent:
                    yield from tokens(catalogue.DELEGATED_TOKENS, _configured(name), usage)


def tokens(metric: catalogue.Metric, agent: str, usage: Usage) -> Iterator[Observation]:
    """Tokens of one agent, by direction."""
    amounts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    for direction, amount in zip(DIRECTIONS, amounts, strict=True):
        if amount > 0:
            yield Observation(metric, amount, {"agent": agent, "direction": direction})


def _configured(path: str) -> str:
    """The configured name of a sub-agent. The names after it are those of its own sub-agents, which it chose."""
    return path.partition("/")[0]
