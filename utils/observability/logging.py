"""Structured logs on standard error: readable text on a terminal, JSON elsewhere."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from utils.observability.redaction import redactor, secrets_of
from utils.observability.settings import LogSettings
from utils.observability.tracebacks import without_quotes

OWN_PACKAGES = ("agents", "multi_agents", "utils", "__main__")
"""Packages whose log lines never contain a user's text. Libraries give no such guarantee: one logs the
parameters of SQL statements, another complete requests."""

_SERVER = "uvicorn.error"
"""Logs its start and stop, and requests only at DEBUG."""

_QUOTE_MESSAGES = ("a2a", "mcp")
"""The loggers of the SDKs: they warn of messages that they do not accept, and quote them. Whoever sent or awaits one is told anyway."""

_ON_ROOT = "/mcp/shared/"
"""Modules of the MCP SDK that warn of such messages on the root logger itself."""

_OWN_HANDLERS = ("uvicorn", "uvicorn.error", "uvicorn.access")
"""Loggers that uvicorn gives their own handlers by default, which bypass the root logger."""


def configure_logging(
    settings: LogSettings,
    *,
    agent: str,
    environ: Mapping[str, str] | None = None,
    own: Sequence[str] = (),
) -> None:
    """Set up structlog and route the standard library's log, uvicorn's included, through it. Call once, at the entry point.

    The level applies to this service's own lines. Libraries log warnings and errors only, the A2A SDK errors only; the
    web server also its start and stop.

    Args:
        settings: Level and format.
        agent: Name in every line.
        environ: Settings by name; the values of secret ones are redacted.
        own: Further packages that are logged at the same level, such as the agent's own.
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
                structlog.processors.ExceptionRenderer(without_quotes),
                redactor(secrets_of(environ or {})),
                _renderer(settings.format),
            ],
        )
    )
    _route(handler, settings.level.upper(), (*OWN_PACKAGES, *own))
    structlog.contextvars.bind_contextvars(agent=agent)


def _route(handler: logging.Handler, level: str, packages: Sequence[str]) -> None:
    chosen = logging.getLevelNamesMapping()[level]
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.addFilter(_quotes_no_message)
    root.setLevel(max(logging.WARNING, chosen))
    logging.captureWarnings(capture=True)
    for name in packages:
        logging.getLogger(name).setLevel(chosen)
    logging.getLogger(_SERVER).setLevel(max(logging.INFO, chosen))
    for name in _QUOTE_MESSAGES:
        logging.getLogger(name).setLevel(max(logging.ERROR, chosen))
    for name in _OWN_HANDLERS:
        logger = logging.getLogger(name)
        logger.handlers[:] = []
        logger.propagate = True


def _quotes_no_message(record: logging.LogRecord) -> bool:
    """Whether a line that was logged on the root logger itself comes from elsewhere than `_ON_ROOT`."""
    return _ON_ROOT not in record.pathname.replace("\\", "/")


def _renderer(form: str) -> Any:
    if form == "console" or (form == "auto" and sys.stderr.isatty()):
        return structlog.dev.ConsoleRenderer()
    return structlog.processors.JSONRenderer()
