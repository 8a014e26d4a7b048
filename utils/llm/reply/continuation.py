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
    """The whole answer, with what both requests used; incomplete if the rest is.

    Args:
        begun: The words that were cut off.
        cut: The message that held them.
        rest: What the model said when it was asked to continue.
    """
    said = message_text(rest)
    overlap = _overlap(begun, said)
    return rest.model_copy(
        update={
            "content": begun + said[overlap:],
            "usage_metadata": add_usage(cut.usage_metadata, rest.usage_metadata),
        }
    )


def _overlap(begun: str, said: str) -> int:
    """Characters at the beginning of `said` that stand at the end of `begun` already."""
    longest = min(_LONGEST_OVERLAP, len(begun), len(said))
    return next((n for n in range(longest, _LEAST_OVERLAP - 1, -1) if begun.endswith(said[:n])), 0)
