"""What restarts the pods: a change of each ConfigMap and Secret of the chart that they read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.helm.cases import GITHUB
from tests.helm.chart import Helm, Manifest, Values, of_kind, pod_of

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

FIRST, SECOND = f"{'a' * 43}=", f"{'b' * 43}="


def _agent(**more: Any) -> Values:
    return {"agents": [{**GITHUB, **more}, {"name": "rag", "port": 8002}]}


def _external(key: str) -> Values:
    return {"secrets": {"external": {"store": "vault", "keys": {"OPENAI_API_KEY": {"key": key}}}}}


CHANGES: dict[str, tuple[Values, Values]] = {
    "a setting": ({}, {"settings": {"LOG_LEVEL": "DEBUG"}}),
    "a setting of one agent": (_agent(), _agent(env={"LOG_LEVEL": "DEBUG"})),
    "a secret": ({"secrets": {"values": {"A": "1"}}}, {"secrets": {"values": {"A": "2"}}}),
    "a secret of one agent": (_agent(secrets={"values": {"A": "1"}}), _agent(secrets={"values": {"A": "2"}})),
    "a secret of a store": (_external("one"), _external("two")),
    "the address of the database": (
        {"database": {"url": "postgresql://a:old@db/e"}},
        {"database": {"url": "postgresql://a:new@db/e"}},
    ),
    "a new key of encryption": ({"encryption": {"keys": [FIRST]}}, {"encryption": {"keys": [SECOND, FIRST]}}),
    "the order of the keys of encryption": (
        {"encryption": {"keys": [FIRST, SECOND]}},
        {"encryption": {"keys": [SECOND, FIRST]}},
    ),
}
"""Values before and after a change of what a pod reads."""


def _read(manifests: list[Manifest]) -> Iterator[tuple[str, str, str]]:
    """Each deployment with its pod, and with what it reads of the chart."""
    kept = {
        one["metadata"]["name"]: str(one.get("data") or one.get("stringData") or one["spec"])
        for one in manifests
        if one["kind"] in {"ConfigMap", "Secret", "ExternalSecret"}
    }
    for name, deployment in of_kind(manifests, "Deployment").items():
        (container,) = pod_of(deployment)["containers"]
        sources = [next(iter(source.values()))["name"] for source in container["envFrom"]]
        yield name, str(deployment["spec"]["template"]), str([kept.get(source) for source in sources])


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_of_what_a_pod_reads_restarts_it_and_no_other(helm4: Helm, case: str):
    before, after = (list(_read(helm4.render(values))) for values in CHANGES[case])
    changed = {one[0] for one, other in zip(before, after, strict=True) if one[2] != other[2]}
    restarted = {one[0] for one, other in zip(before, after, strict=True) if one[1] != other[1]}
    assert changed
    assert restarted == changed


def test_a_change_that_concerns_the_job_alone_restarts_nobody(helm4: Helm):
    url = {"url": "postgresql://engineer:secret@db/engineer"}
    before, after = (
        {name: pod for name, pod, _ in _read(helm4.render({"database": {**url, "migrate": migrate}}))}
        for migrate in (True, False)
    )
    assert before == after
