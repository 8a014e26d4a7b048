"""Logs certificates of an agent's server that clients refuse, or soon will: at its start and once a day."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import structlog

from utils.net.certificate_dates import Dates, dates_of
from utils.supervised import supervised

if TYPE_CHECKING:
    from utils.settings import ServerSettings

log = structlog.get_logger(__name__)

DAY_SECONDS = 86_400.0


def served_dates(settings: ServerSettings) -> list[Dates]:
    """Those of the certificates of HTTPS and of gRPC, as far as they are set.

    Raises:
        SettingsError: A file cannot be read.
    """
    return [
        *dates_of("TLS_CERT_FILE", settings.tls_cert_file),
        *dates_of("GRPC_TLS_CERT_FILE", settings.grpc_tls_cert_file),
    ]


def log_expiry(every: Sequence[Dates], now: datetime) -> None:
    """Log the certificates that are invalid at this time, and those that expire soon."""
    for each in every:
        if reason := each.wrong(now):
            log.error("certificate.not_valid", setting=each.setting, reason=reason)
        elif reason := each.soon(now):
            log.warning("certificate.expires_soon", setting=each.setting, reason=reason)


async def watch(
    every: Sequence[Dates],
    *,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Log the expiry now and once a day, until canceled. The files are not read again: the process serves what it loaded at its start."""

    async def look() -> float:
        log_expiry(every, now())
        return DAY_SECONDS

    await supervised("certificates", look, pause)
