"""The rules that the page looks at are rules of the conformance suite, under the same names and sections."""

from __future__ import annotations

import re
from pathlib import Path

from utils.testing.conformance import CHECKS

SOURCE = Path(__file__).resolve().parents[2] / "multi_agents/web/src/wire/rules.ts"


def test_each_rule_of_the_page_is_one_of_the_command():
    found = re.findall(r'\{ name: "([^"]+)", section: "([^"]+)", look', SOURCE.read_text("utf-8"))
    known = {check.name: check.section for check in CHECKS}
    assert len(found) == 13
    assert [(name, section) for name, section in found if known.get(name) != section] == []
