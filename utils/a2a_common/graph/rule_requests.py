"""Lists, adds and removes the standing rules of a conversation, without a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from utils.a2a_common.protocol.rules import RULES_EXTENSION, RulesAsked, rules_payload
from utils.context.refused import accepted_messages
from utils.context.state import edits_of, pinned_of
from utils.events import AgentEvent, Completed, MetadataReported, TextDelta
from utils.messages.transcript import with_ids

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from utils.a2a_common.graph.graph_run import BuiltGraph

NONE_YET = "No rules hold for this conversation."
UNKNOWN = "There is no such rule."
TITLE = "Rules that hold for this conversation:"


async def rule_events(
    built: BuiltGraph, config: RunnableConfig, asked: RulesAsked
) -> AsyncIterator[AgentEvent]:
    """The events of a request for the rules."""
    state = await built.graph.aget_state(config)
    values = state.values
    known = _rules(values)
    edit = _edit(known, asked, values)
    if edit is not None:
        values = {**values, "rules": [*(values.get("rules") or ()), edit]}
        await built.update(config, {"rules": values["rules"]})
    rules = _rules(values)
    unknown = [UNKNOWN] if asked.remove and edit is None else []
    listed = [TITLE, *(f"{number}. {rule}" for number, rule in enumerate(rules, 1))] if rules else [NONE_YET]
    yield TextDelta("\n".join([*unknown, *listed]))
    yield MetadataReported(RULES_EXTENSION, rules_payload(rules))
    yield Completed()


def _rules(values: Mapping[str, Any]) -> list[str]:
    from utils.context.constraints import constraints_in

    messages = with_ids(accepted_messages(values))
    return [each.text for each in constraints_in(messages, pinned_of(values), edits_of(values))]


def _edit(known: Sequence[str], asked: RulesAsked, values: Mapping[str, Any]) -> list[str] | None:
    """The change to store: what is done, the rule, and the message that it comes after."""
    messages = with_ids(accepted_messages(values))
    after = str(messages[-1].id) if messages else ""
    if asked.add:
        return ["add", asked.add, after] if asked.add not in known else None
    wanted = asked.remove
    if wanted.isdecimal() and 0 < int(wanted) <= len(known):
        wanted = known[int(wanted) - 1]
    return ["remove", wanted, after] if wanted and wanted in known else None
