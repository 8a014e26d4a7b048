"""The result that reports a tool call that was sent and not answered. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from utils.errors import OutcomeUnknown, PlatformError
from utils.messages.repeatable import CHANGES, READ_ONLY, may_repeat

_MAY_HAVE_CHANGED = "{said}: whether it made the change is unknown. It was not run again."
_MAY_HAVE_AN_EFFECT = "{said}. Whether it had its effect, or still has it later, is unknown."


def unanswered(error: PlatformError, metadata: Mapping[str, Any] | None) -> PlatformError:
    """The error of a call that may have been carried out: what may have an effect is not called safe to repeat.

    Args:
        error: What happened, as it is reported if the call may be repeated. Its message is one sentence, or its first says it.
        metadata: Marks of the tool.
    """
    marks, said = metadata or {}, error.message.split(". ")[0].rstrip(".")
    if marks.get(CHANGES) and not marks.get(READ_ONLY):
        return OutcomeUnknown(_MAY_HAVE_CHANGED.format(said=said))
    if not may_repeat(marks):
        error.message = _MAY_HAVE_AN_EFFECT.format(said=said)
        error.retryable, error.advice = False, OutcomeUnknown.advice
    return error
