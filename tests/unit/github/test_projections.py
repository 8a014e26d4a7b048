"""Fields may be missing, null or of another type: older servers, other editions, deleted accounts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agents.github.testing.data import example
from agents.github.tools import (
    branches,
    changed_files,
    code,
    commits,
    issues,
    project,
    pulls,
    releases,
    repositories,
    workflows,
)

PROJECTIONS: list[tuple[Callable[[dict[str, Any]], object], dict[str, Any]]] = [
    (pulls._row, example("pulls")[0]),
    (pulls._record, example("pull")),
    (changed_files.changed_file, example("pull_files")[0]),
    (pulls._review, example("pull_reviews")[0]),
    (issues._row, example("issues")[0]),
    (lambda row: project.comment(row, 1_000), example("issue_comments")[0]),
    (commits._row, example("commits")[0]),
    (commits._line, example("commit")),
    (branches._row, example("branches")[0]),
    (branches._tag, example("tags")[0]),
    (releases._row, example("releases")[0]),
    (repositories._row, example("repositories")[0]),
    (code._row, example("search_code")["items"][0]),
    (workflows._row, example("workflow_run")),
    (workflows._job, example("job")),
]
NAMES = [f"{project.__module__.rsplit('.', 1)[-1]}.{project.__name__}" for project, _ in PROJECTIONS]
STRANGE: list[Any] = [None, 7, "text", [], {}, [None, 3, "x"], {"login": 4}]


def variants(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The row with each field, and each field one level down, removed or of another type."""
    for key, value in row.items():
        yield {name: other for name, other in row.items() if name != key}
        for strange in STRANGE:
            yield row | {key: strange}
            if isinstance(value, dict):
                for inner in value:
                    changed = copy.copy(value)
                    changed[inner] = strange
                    yield row | {key: changed}


@pytest.mark.parametrize("project, row", PROJECTIONS, ids=NAMES)
def test_a_row_with_strange_fields_is_still_a_row(project, row):
    whole = project(row)
    for variant in [{}, *variants(row)]:
        found = project(variant)
        assert type(found) is type(whole)
        if isinstance(whole, dict):
            assert list(found) == list(whole)


@pytest.mark.parametrize("project, row", PROJECTIONS, ids=NAMES)
def test_values_are_scalars_or_lists_of_scalars(project, row):
    found = project(row)
    for value in found.values() if isinstance(found, dict) else [found]:
        scalars = value if isinstance(value, list) else [value]
        assert all(isinstance(scalar, str | int | bool | None) for scalar in scalars)


def test_states_that_github_spreads_over_several_fields_become_one():
    states: list[dict[str, Any]] = [
        {"state": "open", "draft": False},
        {"state": "open", "draft": True},
        {"state": "closed", "draft": True, "merged_at": None},
        {"state": "closed", "merged_at": "2026-01-01T00:00:00Z"},
    ]
    assert [pulls._row(state)["state"] for state in states] == ["open", "draft", "closed", "merged"]


def test_long_texts_are_cut_and_titles_stay_on_one_line():
    row = pulls._row({"title": "a\nb\t" + "x" * 500})
    assert row["title"].startswith("a b x")
    assert len(row["title"]) == 120
    assert len(pulls._record({"body": "y" * 1_000_000})["description"]) == 4_000
