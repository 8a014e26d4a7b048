"""Dates in a sentence: ISO dates and the usual words ("since last week", "in the last 3 days")."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from utils.llm.offline.entities import in_digits
from utils.llm.offline.grammar import MONTHS, form, pattern

_ISO = r"(\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?)"
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNIT_DAYS = {"hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.0, "year": 365.0}
_WRITTEN = form("written")
_BEFORE = pattern(rf"\b(?:before|until|till|up to)\s+{_ISO}")
_SINCE = pattern(rf"\b(?:since|after|from|newer than|starting)?\s*{_ISO}")
_SPAN = form("span")
_THIS = pattern(r"\b(today|yesterday|this (?:week|month|year))\b")
_DAY = pattern(rf"\b(?:since|on|from|after|last)\s+({'|'.join(_DAYS)})\b")
_MONTH = pattern(rf"\b(?:since|in|from|after)\s+({'|'.join(MONTHS)})\b(?:\s+(\d{{4}}))?")
_START_OF = pattern(
    rf"\b(?:the\s+)?(?:beginning|start)\s+of\s+(?=this\b|(?:19|20)\d\d\b|(?:{'|'.join(MONTHS)})\b)"
)
_YEAR = pattern(r"\b(since|from|after|in|during|before|until|till)\s+((?:19|20)\d\d)\b(?!-)")
_NUMBERS = {"a": 1, "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3}


class Period(NamedTuple):
    """A time from which and a time up to which; either may be open."""

    since: datetime | None = None
    until: datetime | None = None


def period(text: str, now: datetime) -> Period:
    """The period that a sentence names. Relative dates count from `now`; an ISO date alone means since then."""
    text = _written_as_iso(_YEAR.sub(_of_a_year, _START_OF.sub("", in_digits(text))), now)
    until = _iso(_BEFORE.search(text))
    rest = _BEFORE.sub(" ", text)
    since = _iso(_SINCE.search(rest)) or _span(rest, now) or _this(rest, now) or _day(rest, now)
    return Period(since or _month(rest, now), until)


def _of_a_year(match: re.Match[str]) -> str:
    """The days that a year begins and ends with, in place of "since 2024" or "in 2024"."""
    word, year = match[1].lower(), int(match[2])
    if word in {"before", "until", "till"}:
        return f"before {year}-01-01"
    return f"since {year + (word == 'after')}-01-01" + (
        f" before {year + 1}-01-01" if word in {"in", "during"} else ""
    )


def _written_as_iso(text: str, now: datetime) -> str:
    """`text` with "2 March 2026" and "March 2nd" as ISO dates; without a year the last such day is meant."""

    def iso(match: re.Match[str]) -> str:
        day, name, year = (match[1], match[2], match[3]) if match[1] else (match[5], match[4], match[6])
        month = next(i for i, known in enumerate(MONTHS, 1) if known.startswith(name.lower()[:3]))
        wanted = int(year) if year else now.year - ((month, int(day)) > (now.month, now.day))
        return f"{wanted:04}-{month:02}-{int(day):02}"

    return _WRITTEN.sub(iso, text)


def _iso(match: re.Match[str] | None) -> datetime | None:
    if not match:
        return None
    try:
        value = datetime.fromisoformat(match[1].replace(" ", "T"))
    except ValueError:
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _span(text: str, now: datetime) -> datetime | None:
    match = _SPAN.search(text)
    if not match:
        return None
    count, unit = (match[1] or "1", match[2]) if match[2] else (match[3], match[4])
    number = int(count) if count.isdigit() else _NUMBERS[count.lower()]
    moment = now - timedelta(days=number * _UNIT_DAYS[unit.lower()])
    return moment if unit.lower() == "hour" else _midnight(moment)


def _this(text: str, now: datetime) -> datetime | None:
    match = _THIS.search(text)
    if not match:
        return None
    day = _midnight(now)
    starts = {
        "today": day,
        "yesterday": day - timedelta(days=1),
        "this week": day - timedelta(days=day.weekday()),
        "this month": day.replace(day=1),
        "this year": day.replace(month=1, day=1),
    }
    return starts[match[1].lower()]


def _day(text: str, now: datetime) -> datetime | None:
    match = _DAY.search(text)
    if not match:
        return None
    back = (now.weekday() - _DAYS.index(match[1].lower())) % 7 or 7
    return _midnight(now) - timedelta(days=back)


def _month(text: str, now: datetime) -> datetime | None:
    match = _MONTH.search(text)
    if not match:
        return None
    month = MONTHS.index(match[1].lower()) + 1
    year = int(match[2]) if match[2] else now.year - (month > now.month)
    return _midnight(now).replace(year=year, month=month, day=1)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)
