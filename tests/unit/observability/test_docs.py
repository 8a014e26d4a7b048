"""docs/observability.md says what there is, no more and no less."""

from __future__ import annotations

import re
from pathlib import Path

from utils.observability.catalogue import CATALOGUE

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "observability.md").read_text()
ROW = re.compile(r"^\| `(platform_engineer_\w+)` \| (\w+) \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)
EVENT = re.compile(r"^\| `([a-z_.]+)` \| (?:debug|info|warning|error) \|", re.MULTILINE)


def test_the_table_of_metrics_is_the_catalogue() -> None:
    rows = [
        (name, kind, re.findall(r"`(\w+)`", labels), meaning)
        for name, kind, labels, meaning in ROW.findall(PAGE)
    ]
    assert rows == [(one.name, one.kind, list(one.labels), one.meaning) for one in CATALOGUE]


def test_every_metric_is_counted_somewhere() -> None:
    code = "".join(path.read_text() for path in (ROOT / "utils").rglob("*.py") if path.name != "catalogue.py")
    names = {
        name
        for name, at in re.findall(
            r"^([A-Z_]+) = (_counter|_gauge|_histogram)\(",
            (ROOT / "utils/observability/catalogue.py").read_text(),
            re.MULTILINE,
        )
        if at
    }
    assert len(names) == len(CATALOGUE)
    assert {name for name in names if f"catalogue.{name}" not in code} == set()


def test_every_log_event_of_the_page_is_logged_somewhere() -> None:
    folders = ("utils", "agents", "multi_agents")
    code = "".join(path.read_text() for folder in folders for path in (ROOT / folder).rglob("*.py"))
    events = EVENT.findall(PAGE)
    assert len(events) >= 12
    assert [event for event in events if f'"{event}"' not in code] == []
