"""The table of docs/systems/wire.md names tests that exist, and no test of the wire's rules is left out of it."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ROW = re.compile(r"^\|.*\| `(test_\w+)` \|$", re.MULTILINE)


def test_every_row_of_the_table_names_a_test_that_exists():
    named = ROW.findall((ROOT / "docs/systems/wire.md").read_text("utf-8"))
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    existing = set(re.findall(r"^(?:async )?def (test_\w+)", source, re.MULTILINE))
    assert len(named) > 50
    assert [name for name in named if name not in existing] == []
    assert len(named) == len(set(named))
