"""The command `/rules`: what is typed after it, as a request to the agent. Pure."""

from __future__ import annotations

from utils.a2a_common.protocol.rules import RulesAsked

USAGE = "/rules lists the rules of this conversation; /rules add TEXT and /rules remove NUMBER or TEXT change them."


def rules_of(argument: str) -> RulesAsked | None:
    """The request in the words after the command; `None` if they cannot be parsed."""
    action, _, text = argument.strip().partition(" ")
    match action, text.strip():
        case "", _:
            return RulesAsked()
        case "add", said if said:
            return RulesAsked(add=said)
        case "remove", said if said:
            return RulesAsked(remove=said)
        case _:
            return None
