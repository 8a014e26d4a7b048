"""The table of `conformance` tells each fault once."""

from __future__ import annotations

import pytest

from multi_agents.cli.commands import conformance as command
from utils.testing.conformance import Outcome, Verdict


def test_a_fault_that_breaks_many_rules_is_told_once_with_their_number(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    faults = [Verdict(f"rule {number}", "5.6", Outcome.FAIL, "no zone") for number in range(25)]
    other = Verdict("another rule", "5.6", Outcome.FAIL, "no card")
    skipped = [Verdict(f"skipped {number}", "5.6", Outcome.SKIPPED, "too fast") for number in range(2)]
    command._print_table([*faults, other, *skipped])
    told = capsys.readouterr()
    shown = told.out + told.err
    assert shown.count("no zone") == 1
    assert "(The same at 24 more; --json lists them.)" in shown
    assert shown.count("no card") == 1
    assert shown.count("too fast") == 2
    assert "26 fail" in shown
