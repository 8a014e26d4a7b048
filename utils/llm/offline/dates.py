"""Times in a sentence: dates, and the usual words ("since last week", "in October", "older than 30 days")."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from utils.llm.offline.grammar import DAYS, FORMS, MONTHS, NUMBERS

_UNIT_DAYS = {"h": 1 / 24, "hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.0, "year": 365.0}
_COUNTS = {"a": 1, "an": 1, "one": 1, "couple of": 2, "few": 3} | {n: i for i, n in enumerate(NUMBERS, 2)}
_BEGINS = {"since", "after", "between", "newer than", "younger than", "more recent than", "less than"}
_UP_TO, _WITHIN = {"before", "until", "till", "up to", "by"}, {"in", "on", "of", "during", "within"}
_AGES, _JOINING = (
    {"older than", "longer than", "more than", "over", "at least"},
    {"and", "to", "through", "-", "\u2013"},
)
_DAY, _TICK = timedelta(days=1), timedelta(seconds=1)


class Period(NamedTuple):
    """A time from which and a time up to which; either may be open."""

    since: datetime | None = None
    until: datetime | None = None


class Moment(NamedTuple):
    """A time that a text names, of which kind, and whether things are wanted from then on (`begins`), up to then (`ends`), or within it."""

    match: re.Match[str]
    kind: str
    begins: bool
    ends: bool

    @property
    def side(self) -> str:
        """The word before it: "since"."""
        return (self.match["side"] or "").lower()


def times(text: str) -> list[Moment]:
    """The times that a text names, in order, also those that say not which things are wanted ("overnight"), but no mere length."""
    plain = FORMS["planned_day"].sub(lambda match: " " * len(match[0]), text)
    found: list[Moment] = []
    for match in FORMS["moment"].finditer(plain):
        moment = Moment(match, next((kind for kind in _READERS if match[kind]), ""), *_bounds(match))
        last = found[-1] if found else None
        if moment.side not in _JOINING:
            found.append(moment)
        elif (
            last and last.side in {"between", "from"} and not plain[last.match.end() : match.start()].strip()
        ):
            found[-1:] = [last._replace(begins=True, ends=False), moment._replace(begins=False, ends=True)]
        else:
            found.append(moment._replace(begins=False, ends=False))
    return [each for each in found if each.begins or each.ends or each.kind not in {"length", "weekday"}]


def moments(text: str) -> list[Moment]:
    """The times that say which things are wanted, in order."""
    return [moment for moment in times(text) if moment.begins or moment.ends]


def period(text: str, now: datetime) -> Period:
    """The period that a sentence names, the first of each kind. Relative dates count from `now`; a date alone means since then."""
    since: list[datetime | None] = []
    until: list[datetime | None] = []
    for moment in moments(text):
        try:
            first, last = _READERS[moment.kind](moment.match, now)
        except ValueError:
            continue  # "since 2026-13-45"
        after = moment.side == "after" and moment.kind in {"month", "year"} and last
        since += [last + _TICK if after and last else first] * moment.begins
        until += [first if moment.side in {"before", "by"} else last or first] * moment.ends
    return Period(next(iter(since), None), next(iter(until), None))


def _bounds(match: re.Match[str]) -> tuple[bool, bool]:
    """Whether a time says from when things are wanted, and up to when."""
    side, back = ((match[name] or "").strip().lower() for name in ("side", "back"))
    lasts = match["length"] and not (match["past"] or back or side in _BEGINS or side in _AGES)
    if lasts or match["unread"]:
        return False, False  # "within 3 days" of what? "since that release"
    named = match["month"] or match["year"] or match["weekday"]
    if named and not side and not named.lower().startswith("last "):
        return False, False  # "may", "2024"
    if side in _BEGINS:
        return True, False
    if side in _UP_TO or (match["length"] and (side in _AGES or back in {"old", "or older"})):
        return False, True
    if match["length"] or match["this"]:
        return True, _is_of_the_calendar(match) if match["length"] else match["this"].lower() == "yesterday"
    within = side in _WITHIN or (named and not (side == "from" and match["weekday"]))
    return True, bool(within) and not match["on"]


def _is_of_the_calendar(match: re.Match[str]) -> bool:
    """Whether a length is the week, month or year before this one: "last month", but not "the last month"."""
    plain = not match["count"] and not match["the"] and (match["side"] or "").lower() != "since"
    return (
        plain
        and (match["past"] or "").lower() in {"last", "previous"}
        and match["unit"].lower() in _FIRST_DAY
    )


def _iso(match: re.Match[str], _: datetime) -> Period:
    value = datetime.fromisoformat(match["iso"])
    value = value if value.tzinfo else value.replace(tzinfo=UTC)
    return Period(value, value if "T" in match["iso"] or ":" in match["iso"] else value + _DAY - _TICK)


def _named(match: re.Match[str], now: datetime) -> Period:
    """A day, month or year by its name, up to its last second; without a year the last such one is meant."""
    said = (match["day"] or match["month"] or match["year"]).lower()
    month = next((i for i, name in enumerate(MONTHS, 1) if re.search(rf"\b{name[:3]}", said)), 0)
    numbers = [int(each) for each in re.findall(r"\d+", said)]
    day, year = (numbers.pop(0) if match["day"] else 1), next(iter(numbers[-1:]), None)
    year = year or now.year - ((month, day) > (now.month, now.day))
    start = _midnight(now).replace(year=year, month=month or 1, day=day)
    if match["day"]:
        return Period(start, start + _DAY - _TICK)
    after = (start + 31 * _DAY).replace(day=1) if month else start.replace(year=year + 1)
    return Period(start, after - _TICK)


def _this(match: re.Match[str], now: datetime) -> Period:
    day, said = _midnight(now), match["this"].lower()
    if said == "yesterday":
        return Period(day - _DAY, day - _TICK)
    return Period(_FIRST_DAY.get(said.removeprefix("this "), _midnight)(day))


def _weekday(match: re.Match[str], now: datetime) -> Period:
    name = match["weekday"].lower().split()[-1].removesuffix("s")
    day = _midnight(now) - timedelta(days=(now.weekday() - DAYS.index(name)) % 7 or 7)
    return Period(day, day + _DAY - _TICK)


def _length(match: re.Match[str], now: datetime) -> Period:
    count, unit = (match["count"] or "1").lower(), match["unit"].lower()
    if _is_of_the_calendar(match):
        this = _FIRST_DAY[unit](_midnight(now))
        return Period(_FIRST_DAY[unit](this - _DAY), this - _TICK)
    moment = now - timedelta(days=(int(count) if count.isdigit() else _COUNTS[count]) * _UNIT_DAYS[unit])
    return Period(moment if unit in {"h", "hour"} else _midnight(moment))


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


_FIRST_DAY: Mapping[str, Callable[[datetime], datetime]] = {
    "week": lambda day: day - timedelta(days=day.weekday()),
    "month": lambda day: day.replace(day=1),
    "year": lambda day: day.replace(month=1, day=1),
}
"""The first day of a calendar unit that a day is in."""
_READERS: Mapping[str, Callable[[re.Match[str], datetime], Period]] = {
    "iso": _iso,
    "day": _named,
    "month": _named,
    "year": _named,
    "this": _this,
    "weekday": _weekday,
    "length": _length,
}
"""Readers of times, by the group of the form: when they begin and end."""
