"""Lists, adds and removes the standing rules of a conversation, without a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from utils.a2a_common.protocol.rules import RULES_EXTENSION, RulesRequest, rules_payload
from utils.context.refused import Refused, accepted_messages
from utils.context.state import edits_of, pinned_of
from utils.events import AgentEvent, Completed, MetadataReported, TextDelta
from utils.messages.transcript import with_ids

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from utils.a2a_common.graph.run.graph_run import BuiltGraph

NONE_YET = "No rules hold for this conversation."
UNKNOWN = "There is no such rule."
TITLE = "Rules that hold for this conversation:"
LEFT_OUT = " (left out: the model provider refused it)"


async def rule_events(
    built: BuiltGraph, config: RunnableConfig, asked: RulesRequest
) -> AsyncIterator[AgentEvent]:
    """The events of a request for the rules."""
    state = await built.graph.aget_state(config)
    values = state.values
    known = _rules(values)
    edit = _edit(known, asked, values)
    if edit is not None:
        changed = _changed(values, edit)
        values = {**values, **changed}
        await built.update(config, changed)
    rules, refused = _rules(values), Refused.from_state(values).rules
    unknown = [UNKNOWN] if asked.remove and edit is None else []
    lines = [f"{n}. {rule}{LEFT_OUT if rule in refused else ''}" for n, rule in enumerate(rules, 1)]
    listed = [TITLE, *lines] if rules else [NONE_YET]
    yield TextDelta("\n".join([*unknown, *listed]))
    yield MetadataReported(RULES_EXTENSION, rules_payload(rules))
    yield Completed()


def _rules(values: Mapping[str, Any]) -> list[str]:
    from utils.context.constraints import constraints_in

    messages = with_ids(accepted_messages(values))
    return [each.text for each in constraints_in(messages, pinned_of(values), edits_of(values))]


def _changed(values: Mapping[str, Any], edit: list[str]) -> dict[str, Any]:
    """What of the state changes with an edit."""
    done, rule, _ = edit
    changed: dict[str, Any] = {"rules": [*(values.get("rules") or ()), edit]}
    refused = Refused.from_state(values)
    if done == "remove" and rule in refused.rules:
        changed["refused"] = refused.without_rule(rule).as_state()
    return changed


def _edit(known: Sequence[str], asked: RulesRequest, values: Mapping[str, Any]) -> list[str] | None:
    """The change to store: the action, the rule, and the message after which it applies."""
    messages = with_ids(accepted_messages(values))
    after = str(messages[-1].id) if messages else ""
    if asked.add:
        return ["add", asked.add, after] if asked.add not in known else None
    wanted = asked.remove
    if wanted.isdecimal() and 0 < int(wanted) <= len(known):
        wanted = known[int(wanted) - 1]
    return ["remove", wanted, after] if wanted and wanted in known else None
