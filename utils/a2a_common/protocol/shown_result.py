"""The beginning of a call's result, as the activity extension shows it."""

from __future__ import annotations

from utils.observability.redaction import redact_text

MOST_CHARACTERS = 500
"""Each result is kept in the task's log, so that its length is what a call adds to a task; a screen holds about this much."""

_READ = 20_000
"""Characters that are searched for secrets: redacted text before the shown part may be long."""

_LONGEST = 8_000
"""Characters of the longest secret that may be cut there; JSON without blanks is one word, of which the beginning is shown."""


def shown_result(text: str) -> str | None:
    """The beginning of a text without what has the form of a secret, and how much is left out; `None` for no text. Pure."""
    whole = text.strip()
    begun = whole[:_READ]
    if len(whole) > _READ:  # its last word may be the beginning of a secret, too short to be known as one
        begun = begun[: len(begun) - min(_LONGEST, len(begun.split()[-1]))]
    redacted = redact_text(begun).strip()
    left_out = max(0, len(redacted) - MOST_CHARACTERS) + len(whole) - len(begun)
    if not left_out:
        return redacted or None
    return f"{redacted[:MOST_CHARACTERS]}… ({left_out:,} more characters)"
