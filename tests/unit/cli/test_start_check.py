"""What `doctor` makes of the verdicts of the processes of a service."""

from __future__ import annotations

import json

from multi_agents.cli.model.finding import Finding, Level
from multi_agents.cli.start_check import findings_of


def verdict(wrong: str) -> list[str]:
    return ['{"event": "setting.unknown"}', json.dumps({"checked": "x", "wrong": wrong}), wrong or "-"]


def test_a_sentence_of_several_processes_is_told_once():
    said = {"supervisor": verdict("No."), "github": verdict(""), "rag": verdict("No.")}
    assert list(findings_of(said)) == [
        Finding("start", Level.WRONG, "supervisor, rag cannot be started: No.")
    ]


def test_a_program_that_does_not_know_the_check_is_noted_and_not_wrong():
    said = {
        "supervisor": verdict(""),
        "foreign": ["usage: foreign", "error: unrecognized arguments: --check"],
    }
    (found,) = findings_of(said)
    assert (found.level, "foreign did not say" in found.message) == ("note", True)
    (silent,) = findings_of({"foreign": []})
    assert silent.message.endswith("it said nothing")


def test_all_is_well_only_where_every_process_says_so():
    assert [one.level for one in findings_of({"supervisor": verdict(""), "rag": verdict("")})] == ["ok"]
