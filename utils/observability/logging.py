"""Structured logs on standard error: for people on a terminal, JSON elsewhere."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any

import structlog

from utils.observability.redaction import redactor, secrets_of
from utils.observability.settings import LogSettings

_QUIET = (
    "httpx",
    "httpx2",
    "httpcore",
    "a2a",
    "githubkit",
    "openai",
    "botocore",
    "urllib3",
    "hishel",
    "opentelemetry.attributes",
)

_OWN_HANDLERS = ("uvicorn", "uvicorn.error", "uvicorn.access")
"""Loggers that uvicorn gives handlers of their own, past the root's, unless it is told not to."""


def configure_logging(settings: LogSettings, *, agent: str, environ: Mapping[str, str] | None = None) -> None:
    """Set up structlog and route the standard library's log, uvicorn's included, through it. Call once, at the edge.

    Args:
        settings: Level and form.
        agent: Stands in every line.
        environ: Settings by name; the values of those that are secrets never reach a line.
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
    _route(handler, settings.level.upper())
    structlog.contextvars.bind_contextvars(agent=agent)


def _route(handler: logging.Handler, level: str) -> None:
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.captureWarnings(capture=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    for name in _OWN_HANDLERS:
        logger = logging.getLogger(name)
        logger.handlers[:] = []
        logger.propagate = True


def _renderer(form: str) -> Any:
    if form == "console" or (form == "auto" and sys.stderr.isatty()):
        return structlog.dev.ConsoleRenderer()
    return structlog.processors.JSONRenderer()
