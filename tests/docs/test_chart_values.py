"""The page of the chart's values has every value, and says what each means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import yaml

from docs.chart_values import SECTIONS, ChartFiles
from docs.make_configuration import CHART

FILES = ChartFiles(CHART)
VALUES = [value for groups in SECTIONS.values() for group in groups for value in FILES.values(group)]
SHOWN = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))


def _leaves(shown: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(shown, Mapping) and shown and len(path) < 2:
        for key, one in shown.items():
            yield from _leaves(one, (*path, key))
    else:
        yield path


def test_every_group_of_values_has_its_place_on_the_page():
    assert sorted(FILES.groups()) == sorted(group for groups in SECTIONS.values() for group in groups)


def test_every_value_that_the_chart_shows_is_listed():
    keys = {value.key for value in VALUES}
    whole = {"settings", "agents"}
    missing = [
        name
        for path in _leaves(SHOWN)
        if path[0] not in whole
        and not any(key == (name := ".".join(path)) or key.startswith(f"{name}.") for key in keys)
    ]
    assert missing == []


def test_every_value_says_what_it_means():
    assert [value.key for value in VALUES if not value.meaning] == []


def test_a_default_is_the_value_of_the_chart():
    for value in VALUES:
        found: object = SHOWN
        for key in value.key.split("."):
            found = found.get(key) if isinstance(found, Mapping) else None
        if value.default not in ("", "unset"):
            assert yaml.safe_load(value.default.strip("`")) == found, value.key


def test_each_key_stands_once():
    keys = [value.key for value in VALUES]
    assert len(keys) == len(set(keys))


def test_the_kinds_of_values_are_words_or_choices():
    words = r"(text|number|true or false|list|map)(, .+)?|`\w+`( or `\w+`)*"
    assert [value for value in VALUES if not re.fullmatch(words, value.kind)] == []
