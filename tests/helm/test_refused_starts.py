"""What the code refuses in the environment of a pod, the chart refuses before there is a pod, by the rows of refusals.yaml."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.helm.cases import ACCEPTED
from tests.helm.chart import CHART, Helm, Manifest, of_kind, pods
from tests.helm.refused_starts import REFUSED, SPLIT, refused

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

ROWS = yaml.safe_load((CHART / "refusals.yaml").read_text("utf-8"))
UNSEEN = {
    "db": {"DATABASE_URL": "postgresql://engineer@db.example.com/engineer"},
    "engineer-database": {"DATABASE_URL": "postgresql://engineer@db.example.com/engineer"},
}
"""Secrets that the chart did not make."""


def environments(manifests: list[Manifest]) -> Iterator[dict[str, str]]:
    """The variables of each pod that serves an agent."""
    maps = {name: one["data"] for name, one in of_kind(manifests, "ConfigMap").items()}
    made = {name: one["stringData"] for name, one in of_kind(manifests, "Secret").items()}
    secrets = defaultdict[str, dict[str, str]](dict, UNSEEN | made)
    for name, pod in pods(manifests).items():
        (container,) = pod["containers"]
        if name in {"migrate", "test"}:
            continue
        found: dict[str, str] = {}
        for source in container["envFrom"]:
            if "configMapRef" in source:
                found |= maps[source["configMapRef"]["name"]]
            else:
                found |= secrets[source["secretRef"]["name"]]
        yield found


@pytest.mark.parametrize("case", ACCEPTED)
def test_pods_of_values_that_are_accepted_have_settings_that_are_accepted(helm4: Helm, case: str):
    for environ in environments(helm4.render(ACCEPTED[case])):
        assert refused(environ) == []


@pytest.mark.parametrize("case", [*REFUSED, *SPLIT])
def test_the_chart_refuses_it_with_a_sentence(helm: Helm, case: str):
    values, sentence = (REFUSED | SPLIT)[case]
    assert sentence in helm.refusal(values)


@pytest.mark.parametrize("case", REFUSED)
def test_the_code_would_refuse_it_too(helm4: Helm, case: str, tmp_path: Path):
    """Rendered by the chart without its table."""
    without = tmp_path / "chart"
    shutil.copytree(CHART, without)
    (without / "refusals.yaml").write_text("[]\n")
    done = helm4.run("template", "first", str(without), values=REFUSED[case][0])
    assert done.returncode == 0, done.stderr
    manifests = [one for one in yaml.load_all(done.stdout, yaml.CSafeLoader) if one]
    assert any(refused(environ) for environ in environments(manifests))


def test_every_row_is_tried():
    tried = [sentence for _, sentence in (REFUSED | SPLIT).values()]
    assert [row["says"] for row in ROWS if not any(_of(row["says"], said) for said in tried)] == []


def _of(row: str, said: str) -> bool:
    """Whether a part of a sentence is of a row."""
    names, values = ("supervisor", "github"), ("sqlite", "memory")
    return any(
        said in row.replace("{it}", name).replace("{value}", value) for name in names for value in values
    )
