"""Structured logs on standard error: for people on a terminal, JSON elsewhere."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

from utils.observability.redaction import redact_event
from utils.settings import LogSettings

_QUIET = ("httpx", "httpcore", "a2a", "githubkit", "openai", "botocore", "urllib3", "hishel")


def configure_logging(settings: LogSettings, *, agent: str) -> None:
    """Set up structlog and route the standard library's log through it. Call once, at the edge."""
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
                redact_event,
                _renderer(settings.format),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.level.upper())
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    structlog.contextvars.bind_contextvars(agent=agent)


def _renderer(form: str) -> Any:
    if form == "console" or (form == "auto" and sys.stderr.isatty()):
        return structlog.dev.ConsoleRenderer()
    return structlog.processors.JSONRenderer()
