"""The command `/rules`: what is typed after it, as a request to the agent. Pure."""

from __future__ import annotations

from utils.a2a_common.protocol.rules import RulesRequest

USAGE = "/rules lists the rules of this conversation; /rules add TEXT and /rules remove NUMBER or TEXT change them."


def rules_of(argument: str) -> RulesRequest | None:
    """The request in the words after the command; `None` if they cannot be parsed."""
    action, _, text = argument.strip().partition(" ")
    match action, text.strip():
        case "", _:
            return RulesRequest()
        case "add", said if said:
            return RulesRequest(add=said)
        case "remove", said if said:
            return RulesRequest(remove=said)
        case _:
            return None
