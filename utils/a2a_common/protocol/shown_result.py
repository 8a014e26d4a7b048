"""The beginning of a call's result, as the activity extension shows it."""

from __future__ import annotations

from utils.observability.redaction import redact_text

MOST_CHARACTERS = 500
"""Each result is kept in the task's log, so that its length is what a call adds to a task; a screen holds about this much."""


def shown_result(text: str) -> str | None:
    """The beginning of a text without what has the form of a secret, and how much is left out; `None` for no text. Pure."""
    said = redact_text(text[: 2 * MOST_CHARACTERS]).strip()
    if not said:
        return None
    left_out = len(text.strip()) - MOST_CHARACTERS
    if left_out <= 0:
        return said
    return f"{said[:MOST_CHARACTERS]}… ({left_out:,} more characters)"
