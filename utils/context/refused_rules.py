"""Which of the rules that a user added by command may be why a provider refused a request. Pure.

They stand in every request, so that one that a provider refuses would hold up the conversation. A rule that a message states is no
suspect: it leaves with its message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from utils.context.constraints import constraints_in
from utils.context.refused import TURN_LEFT_OUT, Refused, accepted_messages
from utils.context.state import edits_of, pinned_of
from utils.messages.marks import COUNTED_TOKENS
from utils.messages.transcript import with_ids


def suspected_rules(values: Mapping[str, Any]) -> dict[int, str]:
    """The rules that were added since the last request that was accepted, by their number in the list of rules.

    Where the turn before was refused too, every rule that was added is suspected: another model may have accepted it.

    Args:
        values: The graph's state.
    """
    messages, edits = with_ids(accepted_messages(values)), edits_of(values)
    places = {str(message.id): place for place, message in enumerate(messages)}
    answered = [place for place, message in enumerate(messages) if COUNTED_TOKENS.of(message) is not None]
    last = answered[-1] if answered else -1
    if any(message.content == TURN_LEFT_OUT for message in messages[last + 1 :]):
        last = -1
    before = {"": -1, **places}
    added = {edit.text for edit in edits if edit.adds and before.get(edit.after, last) >= last}
    suspected = added.difference(Refused.from_state(values).rules)
    in_force = constraints_in(messages, pinned_of(values), edits)
    return {number: rule.text for number, rule in enumerate(in_force, 1) if rule.text in suspected}
