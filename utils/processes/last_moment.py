"""`LastMoment`: ends a process that was told to stop and does not, whatever it waits for."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Self

import structlog

log = structlog.get_logger(__name__)

CLEANUP_SECONDS = 10.0
"""Time after the grace in which what is stored last is stored and connections are closed: many times what a database that
answers takes, and, with the defaults of pause and grace, half of the 30 seconds that Kubernetes gives in all by default."""

EXIT_CUT_SHORT = 1
"""Exit code of a process that is ended so."""

EFFECT = "what these tasks did last may not be stored; another process, or the next start, goes on with them"

_LOG_SECONDS = 1.0
"""Longest wait for whoever reads the log."""


class LastMoment:
    """A limit on the whole end of a process, beside those of its parts; the block is what the process does.

    A client of a database waits for an answer that never comes, a thread for a disk. No part of the process can be trusted to give
    up then, so a thread of its own ends the process as a crash would: whatever takes over after a crash does so after this.
    """

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        """The process has ended by itself."""
        if self._timer is not None:
            self._timer.cancel()

    def begin(self, seconds: float, left: Callable[[], Sequence[str]]) -> None:
        """End the process after so many seconds, unless the block has ended by then. Safe to call twice.

        Args:
            seconds: What the process has.
            left: Tasks that are not known to be stored; called in another thread.
        """
        if self._timer is None:
            self._timer = _daemon(seconds, lambda: _end(seconds, left))


def _daemon(seconds: float, act: Callable[[], object]) -> threading.Timer:
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()
    return timer


def _end(seconds: float, left: Callable[[], Sequence[str]]) -> None:
    _daemon(_LOG_SECONDS, lambda: os._exit(EXIT_CUT_SHORT))
    try:
        log.error("shutdown.cut_short", seconds=seconds, tasks=list(left()), effect=EFFECT)
        logging.shutdown()
        sys.stdout.flush()
    finally:
        os._exit(EXIT_CUT_SHORT)
