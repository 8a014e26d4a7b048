"""The failure that a user sees of an error."""

from __future__ import annotations

import structlog

from utils.a2a_common.tasks.endings import failure
from utils.errors import CRASHED, INTERNAL, PlatformError
from utils.events import Failed

log = structlog.get_logger(__name__)

UNFORESEEN = Failed(INTERNAL, CRASHED)
"""The sentence of an unexpected error."""


def failure_of(error: Exception) -> Failed:
    """The event for any error: with its own sentence, or a general one where it was not foreseen."""
    from utils.llm.classify import classify

    known = error if isinstance(error, PlatformError) else classify(error)
    if known is None:
        log.error("turn.crashed", code=INTERNAL, exc_info=error)
        return UNFORESEEN
    log.warning("turn.failed", code=known.code, exc_info=error)
    return failure(known)
