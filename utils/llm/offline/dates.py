"""Dates in a sentence: ISO dates and the usual words ("since last week", "in the last 3 days")."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from utils.llm.offline.entities import in_digits
from utils.llm.offline.grammar import DAYS, FORMS, MONTHS

_UNIT_DAYS = {"hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.0, "year": 365.0}
_NUMBERS = {"a": 1, "one": 1, "couple of": 2, "few": 3}
"""Numbers that are no digits once `in_digits` has read "two" to "twelve"."""


class Period(NamedTuple):
    """A time from which and a time up to which; either may be open."""

    since: datetime | None = None
    until: datetime | None = None


def period(text: str, now: datetime) -> Period:
    """The period that a sentence names. Relative dates count from `now`; an ISO date alone means since then."""
    text = FORMS["start_of"].sub("", FORMS["planned_day"].sub(" ", in_digits(text)))
    text = FORMS["of_a_year"].sub(_of_a_year, text)
    text = FORMS["written"].sub(lambda match: _written(match, now), text)
    before = FORMS["before_date"].search(text)
    rest = FORMS["before_date"].sub(" ", text)
    found = (read(match, now) for form, read in _SINCE if (match := FORMS[form].search(rest)))
    return Period(next(filter(None, found), None), _iso(before, now) if before else None)


def _of_a_year(match: re.Match[str]) -> str:
    """The days that a year begins and ends with, in place of "since 2024" or "in 2024"."""
    word, year = match[1].lower(), int(match[2])
    if word in {"before", "until", "till"}:
        return f"before {year}-01-01"
    since = f"since {year + (word == 'after')}-01-01"
    return f"{since} before {year + 1}-01-01" if word in {"in", "during"} else since


def _written(match: re.Match[str], now: datetime) -> str:
    """The ISO date of "2 March 2026" or "March 2nd"; without a year the last such day is meant."""
    day, name, year = match.groups()[:3] if match[1] else (match[5], match[4], match[6])
    month = next(i for i, known in enumerate(MONTHS, 1) if known.startswith(name.lower()[:3]))
    wanted = int(year) if year else now.year - ((month, int(day)) > (now.month, now.day))
    return f"{wanted:04}-{month:02}-{int(day):02}"


def _iso(match: re.Match[str], _: datetime) -> datetime | None:
    try:
        value = datetime.fromisoformat(match[1])
    except ValueError:
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _ago(match: re.Match[str], now: datetime) -> datetime:
    count, unit = (match[1] or "1", match[2]) if match[2] else (match[3], match[4])
    number = int(count) if count.isdigit() else _NUMBERS[count.lower()]
    moment = now - timedelta(days=number * _UNIT_DAYS[unit.lower()])
    return moment if unit.lower() == "hour" else _midnight(moment)


def _this(match: re.Match[str], now: datetime) -> datetime:
    day = _midnight(now)
    starts = {
        "today": day,
        "yesterday": day - timedelta(days=1),
        "this week": day - timedelta(days=day.weekday()),
        "this month": day.replace(day=1),
        "this year": day.replace(month=1, day=1),
    }
    return starts[match[1].lower()]


def _weekday(match: re.Match[str], now: datetime) -> datetime:
    back = (now.weekday() - DAYS.index(match[1].lower())) % 7 or 7
    return _midnight(now) - timedelta(days=back)


def _month(match: re.Match[str], now: datetime) -> datetime:
    month = MONTHS.index(match[1].lower()) + 1
    year = int(match[2]) if match[2] else now.year - (month > now.month)
    return _midnight(now).replace(year=year, month=month, day=1)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


_SINCE = (
    ("since_date", _iso),
    ("span", _ago),
    ("this_time", _this),
    ("weekday", _weekday),
    ("since_month", _month),
)
"""Forms of a time from which something is wanted, the most exact first, with their readers."""
