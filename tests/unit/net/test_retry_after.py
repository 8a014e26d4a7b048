"""A wait that a server asks for is a finite number of seconds, or none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from utils.a2a_common.client.transport.http_errors import LONGEST_RETRY, retry_after_of
from utils.net.retry_after import asked_wait


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7),
        ("0.5", 0.5),
        ("-3", 0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", 0),
        *[(text, None) for text in ("nan", "inf", "-1e400", "9" * 5_000, "soon", "", None)],
        ("Fri, 31 Dec 9999 23:59:59 -9999", None),
    ],
)
def test_a_wait_is_read_as_seconds_or_as_a_date(value, seconds):
    assert asked_wait(value) == seconds


def test_a_date_is_so_many_seconds_away():
    date = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    assert 3_500 < (asked_wait(date) or 0) <= 3_600


@pytest.mark.parametrize(("value", "seconds"), [("nan", None), ("1e300", LONGEST_RETRY)])
def test_an_agent_cannot_ask_for_a_wait_that_no_clock_knows(value, seconds):
    request = httpx.Request("POST", "http://agent/")
    answer = httpx.Response(503, headers={"Retry-After": value}, request=request)
    assert retry_after_of(httpx.HTTPStatusError("busy", request=request, response=answer)) == seconds
