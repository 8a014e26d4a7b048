"""What context management keeps in the graph's state, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired

from langchain.agents.middleware import AgentState, ModelRequest

from utils.context.constraints import Constraint, Edit
from utils.events import RuleChange, RuleChanged


class ContextState(AgentState[Any]):
    """The keys of context management in the graph's state. They are stored and must not change.

    They are not private state in LangChain's sense, so that they pass between an agent's own graph and its subgraph.

    Attributes:
        compaction: `Compaction.as_state`.
        pinned: Constraints that a model found in the user's messages, each with the id of its message.
        rules: Constraints that the user added or removed by command: `add` or `remove`, text, id of the message before.
        told: The constraints that were reported to the user, each with whether requests show it.
        refused: `Refused.as_state`: what a provider refused, if it refused something.
        unreported: Usage of model calls after the last answer, by purpose, until the next turn reports it.
    """

    compaction: NotRequired[dict[str, Any]]
    pinned: NotRequired[list[list[str]]]
    unreported: NotRequired[dict[str, dict[str, Any]]]
    rules: NotRequired[list[list[str]]]
    told: NotRequired[list[list[Any]]]
    refused: NotRequired[dict[str, Any]]


def pinned_of(state: Mapping[str, Any]) -> tuple[Constraint, ...]:
    """The constraints that a model found, from the graph's state."""
    return tuple(Constraint(text, message_id) for text, message_id in state.get("pinned") or ())


def edits_of(state: Mapping[str, Any]) -> tuple[Edit, ...]:
    """The constraints that the user added or removed by command, from the graph's state."""
    return tuple(Edit(done == "add", text, after) for done, text, after in state.get("rules") or ())


def rule_changes(reported: Sequence[Sequence[Any]], rules: Sequence[tuple[str, bool]]) -> list[RuleChanged]:
    """The changes of the constraints since they were last reported."""
    before, now = {str(text): bool(shown) for text, shown in reported}, dict(rules)
    new = [RuleChanged(RuleChange.PINNED, text) for text in now if text not in before]
    gone = [RuleChanged(RuleChange.UNPINNED, text) for text in before if text not in now]
    unseen = [text for text, shown in now.items() if not shown and before.get(text, True)]
    return [*new, *gone, *(RuleChanged(RuleChange.NOT_SHOWN, text) for text in unseen)]


def report_rules(request: ModelRequest[Any], rules: Sequence[tuple[str, bool]]) -> dict[str, Any]:
    """Report changed constraints to the user, and return the state update; a delegated request has no user to report to."""
    state: Mapping[str, Any] = request.state
    changes = rule_changes(state.get("told") or (), rules)
    if not changes or getattr(request.runtime.context, "delegation", None) is not None:
        return {}
    for change in changes:
        request.runtime.stream_writer(change)
    return {"told": [list(rule) for rule in rules]}
