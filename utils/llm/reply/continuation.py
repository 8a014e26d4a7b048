"""Joins an answer that was cut off at the limit of output tokens with its rest. Pure."""

from __future__ import annotations

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import add_usage

from utils.messages.text import message_text

CONTINUE = (
    "Your answer was cut off at the limit of output tokens. Continue it exactly where it stopped. Repeat nothing, "
    "and add no introduction."
)

_LONGEST_OVERLAP = 300
_LEAST_OVERLAP = 12


def joined(begun: str, cut: AIMessage, rest: AIMessage) -> AIMessage:
    """The complete answer, with the usage of both requests; still incomplete if the rest is.

    Args:
        begun: The text that was cut off.
        cut: The message that contained it.
        rest: The model's answer to the request to continue.
    """
    continued = message_text(rest)
    overlap = _overlap(begun, continued)
    return rest.model_copy(
        update={
            "content": begun + continued[overlap:],
            "usage_metadata": add_usage(cut.usage_metadata, rest.usage_metadata),
        }
    )


def _overlap(begun: str, continued: str) -> int:
    """Characters at the beginning of `continued` that repeat the end of `begun`."""
    longest = min(_LONGEST_OVERLAP, len(begun), len(continued))
    return next((n for n in range(longest, _LEAST_OVERLAP - 1, -1) if begun.endswith(continued[:n])), 0)
