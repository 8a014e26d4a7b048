"""Structured logs on standard error: for people on a terminal, JSON elsewhere."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from utils.observability.redaction import redactor, secrets_of
from utils.observability.settings import LogSettings

OURS = ("agents", "multi_agents", "utils", "__main__")
"""Packages whose lines are events without a user's text. Nobody can promise that of a library: one logs the
parameters of SQL statements, the next one whole requests."""

_SERVER = "uvicorn.error"
"""Tells its start and its stop; nothing of a request above DEBUG."""

_OWN_HANDLERS = ("uvicorn", "uvicorn.error", "uvicorn.access")
"""Loggers that uvicorn gives handlers of their own, past the root's, unless it is told not to."""


def configure_logging(
    settings: LogSettings,
    *,
    agent: str,
    environ: Mapping[str, str] | None = None,
    own: Sequence[str] = (),
) -> None:
    """Set up structlog and route the standard library's log, uvicorn's included, through it. Call once, at the edge.

    The level is that of our own lines. Libraries tell warnings and errors only, the web server its start and stop too.

    Args:
        settings: Level and form.
        agent: Stands in every line.
        environ: Settings by name; the values of those that are secrets never reach a line.
        own: Packages besides those of this service whose lines are of the same kind, such as the agent's own.
    """
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                redactor(secrets_of(environ or {})),
                _renderer(settings.format),
            ],
        )
    )
    _route(handler, settings.level.upper(), (*OURS, *own))
    structlog.contextvars.bind_contextvars(agent=agent)


def _route(handler: logging.Handler, level: str, ours: Sequence[str]) -> None:
    chosen = logging.getLevelNamesMapping()[level]
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, chosen))
    logging.captureWarnings(capture=True)
    for name in ours:
        logging.getLogger(name).setLevel(chosen)
    logging.getLogger(_SERVER).setLevel(max(logging.INFO, chosen))
    for name in _OWN_HANDLERS:
        logger = logging.getLogger(name)
        logger.handlers[:] = []
        logger.propagate = True


def _renderer(form: str) -> Any:
    if form == "console" or (form == "auto" and sys.stderr.isatty()):
        return structlog.dev.ConsoleRenderer()
    return structlog.processors.JSONRenderer()
