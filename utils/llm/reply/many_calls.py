"""How many tool calls of one reply are run. Pure."""

from __future__ import annotations

from utils.errors import ReplyUnusable

MOST_CALLS = 128
"""Each call is stored and compared with the others, so thousands would hold up everybody."""

TOO_MANY = f"The model made more than {MOST_CALLS} tool calls at once, and none of them was run. Ask for less at once."


class CallsTooMany(ReplyUnusable):
    """The reply holds more tool calls than are run of one reply."""


def check_number(calls: int) -> None:
    """Refuse a reply with too many calls.

    Raises:
        CallsTooMany: It has.
    """
    if calls > MOST_CALLS:
        raise CallsTooMany(TOO_MANY)
