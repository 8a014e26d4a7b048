"""How Prometheus finds the metrics of a release, and that it is let in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helm.cases import ACCEPTED, PROMETHEUS
from tests.helm.chart import Helm, Manifest, of_kind, pods
from utils.a2a_common.server.http.address import METRICS

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

BY_ANNOTATIONS = ACCEPTED["metrics by annotations"]
BY_MONITOR = ACCEPTED["metrics by a service monitor"]


def _annotations(manifests: list[Manifest]) -> dict[str, dict[str, str]]:
    return {
        name: one["spec"]["template"]["metadata"]["annotations"]
        for name, one in of_kind(manifests, "Deployment").items()
    }


def test_nothing_is_announced_by_default(helm4: Helm):
    manifests = helm4.render()
    assert not of_kind(manifests, "ServiceMonitor")
    assert all(not any("prometheus" in key for key in one) for one in _annotations(manifests).values())


def test_annotations_name_the_port_of_each_pod_and_a_values_file_has_the_last_word(helm4: Helm):
    found = _annotations(helm4.render({**BY_ANNOTATIONS, "defaults": {}}))
    ports = {name: one["prometheus.io/port"] for name, one in found.items()}
    assert ports.items() >= {
        ("first-platform-engineer-supervisor", "8000"),
        ("first-platform-engineer-github", "8001"),
        ("first-platform-engineer-rag", "8002"),
    }
    assert len(ports) == len(set(ports.values()))
    assert {(one["prometheus.io/scrape"], one["prometheus.io/path"]) for one in found.values()} == {
        ("true", METRICS)
    }
    changed = _annotations(helm4.render(BY_ANNOTATIONS)).values()
    assert {one["prometheus.io/path"] for one in changed} == {"/elsewhere"}


def test_the_monitor_selects_the_service_of_every_pod_by_the_name_of_its_port(helm4: Helm):
    manifests = helm4.render(BY_MONITOR)
    (monitor,) = of_kind(manifests, "ServiceMonitor").values()
    wanted = monitor["spec"]["selector"]["matchLabels"].items()
    services = of_kind(manifests, "Service").values()
    (endpoint,) = monitor["spec"]["endpoints"]
    assert len(services) == len(pods(manifests).keys() - {"test"})
    for service in services:
        assert wanted <= service["metadata"]["labels"].items()
        assert [port["name"] for port in service["spec"]["ports"]] == [endpoint["port"]]
        assert monitor["spec"]["targetLabels"][0] in service["metadata"]["labels"]
    assert (endpoint["path"], endpoint["interval"]) == (METRICS, "1m")
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert monitor["metadata"]["namespace"] == "team"


def test_a_monitor_of_one_release_selects_nothing_of_another(helm4: Helm):
    (monitor,) = of_kind(helm4.render(BY_MONITOR, release="blue"), "ServiceMonitor").values()
    wanted = monitor["spec"]["selector"]["matchLabels"].items()
    others = of_kind(helm4.render(release="green"), "Service").values()
    assert not any(wanted <= one["metadata"]["labels"].items() for one in others)


def test_the_scraper_reaches_the_supervisor_and_the_agents(helm4: Helm):
    policies = of_kind(helm4.render(BY_MONITOR), "NetworkPolicy")
    for name in ("supervisor", "github", "rag"):
        (rule,) = policies[f"first-platform-engineer-{name}"]["spec"]["ingress"]
        assert PROMETHEUS in rule["from"]


def test_where_callers_are_known_the_scraper_alone_reaches_a_port_that_serves_the_metrics_alone(helm4: Helm):
    known: dict[str, Any] = {
        "settings": {
            "AUTH_MODE": "oidc",
            "AUTH_ISSUERS": "https://login.example.com",
            "AUTH_SERVICE_PUBLIC_KEY": "{}",
        }
    }
    known |= {"supervisor": {"secrets": {"existing": "keys"}}, "networkPolicy": {}}
    manifests = helm4.render({**BY_MONITOR, **known})
    (monitor,) = of_kind(manifests, "ServiceMonitor").values()
    assert [one["port"] for one in monitor["spec"]["endpoints"]] == ["metrics"]
    policies, services = of_kind(manifests, "NetworkPolicy"), of_kind(manifests, "Service")
    for name in ("supervisor", "github", "rag"):
        whole = f"first-platform-engineer-{name}"
        assert [port["name"] for port in services[whole]["spec"]["ports"]] == ["http", "metrics"]
        http, metrics = policies[whole]["spec"]["ingress"]
        assert [one["port"] for one in http["ports"]] == ["http"]
        assert ([one["port"] for one in metrics["ports"]], metrics["from"]) == (["metrics"], [PROMETHEUS])
        (container,) = pods(manifests)[name]["containers"]
        ports = {one["name"]: one["containerPort"] for one in container["ports"]}
        assert ports["metrics"] == 9090
    annotated = helm4.render({"metrics": {"annotations": True, "from": [PROMETHEUS]}, **known})
    assert {one["prometheus.io/port"] for one in _annotations(annotated).values()} == {"9090"}


def test_where_everybody_may_call_there_is_no_further_port(helm4: Helm):
    for service in of_kind(helm4.render(BY_MONITOR), "Service").values():
        assert [port["name"] for port in service["spec"]["ports"]] == ["http"]
