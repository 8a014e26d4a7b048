"""A certificate that clients refuse, or soon will, is told before they do."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.certificates import Authority
from utils.a2a_common.server.certificate_watch import served_dates, watch
from utils.net.certificate_dates import Dates
from utils.settings import ServerSettings

BEGINS, ENDS = datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 3, 1, tzinfo=UTC)
DATES = Dates("TLS_CERT_FILE", BEGINS, ENDS)


@pytest.mark.parametrize(
    ("now", "wrong", "soon"),
    [
        (BEGINS - timedelta(minutes=1), "is not valid until 2030-01-01 00:00 UTC", ""),
        (BEGINS, "", ""),
        (ENDS - timedelta(days=15), "", ""),
        (ENDS - timedelta(days=13, hours=1), "", "expires on 2030-03-01 00:00 UTC, in 13 days"),
        (ENDS, "expired on 2030-03-01 00:00 UTC", ""),
    ],
)
def test_it_is_told_before_it_is_valid_from_two_weeks_before_its_end_and_after(
    now: datetime, wrong: str, soon: str
):
    assert (wrong in DATES.wrong(now), bool(DATES.wrong(now))) == (True, bool(wrong))
    assert (soon in DATES.soon(now), bool(DATES.soon(now))) == (True, bool(soon))


async def test_it_is_logged_at_the_start_and_every_day(tmp_path: Path):
    days = [timedelta(days=-20), timedelta(days=-3), timedelta(days=1)]
    times = iter(days)

    async def pause(_: float) -> None:
        if not left:
            raise asyncio.CancelledError
        left.pop()

    left = days[1:]
    with capture_logs() as logs, pytest.raises(asyncio.CancelledError):
        await watch([DATES], now=lambda: ENDS + next(times), pause=pause)
    assert [(one["event"], one["log_level"]) for one in logs] == [
        ("certificate.expires_soon", "warning"),
        ("certificate.not_valid", "error"),
    ]


def test_the_dates_are_those_of_the_files_that_the_settings_name(tmp_path: Path):
    certificate, key = Authority().issue("agent").files(tmp_path, "agent")
    settings = {"TLS_CERT_FILE": certificate, "TLS_KEY_FILE": key, "GRPC_TLS_CERT_FILE": certificate}
    dates = served_dates(ServerSettings.load(settings))
    assert [each.setting for each in dates] == ["TLS_CERT_FILE", "GRPC_TLS_CERT_FILE"]
    assert all(not each.wrong(datetime.now(UTC)) for each in dates)
    assert served_dates(ServerSettings.load({})) == []
