"""The job that upgrades the tables and the pod of `helm test` run where the agents do, and reach others as they do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helm.cases import ACCEPTED
from tests.helm.chart import Helm, Manifest, of_kind, pods
from tests.helm.local_pods import Cluster

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

ENDING = ("migrate", "test")
DATABASE = {"existing": "engineer-database"}
PROXY = "http://proxy.example.com:3128"
WITH_PASSWORD = "http://engineer:secret@proxy.example.com:3128"
RESOURCES = {"requests": {"memory": "1Gi", "cpu": "1"}, "limits": {"memory": "1Gi"}}
PLACES: dict[str, Any] = {
    "nodeSelector": {"pool": "agents"},
    "tolerations": [{"key": "agents", "operator": "Exists"}],
    "affinity": {"podAntiAffinity": {}},
    "priorityClassName": "services",
}


@pytest.mark.parametrize(
    "key", [*PLACES, "imagePullSecrets", "securityContext", "automountServiceAccountToken"]
)
def test_they_say_of_themselves_what_the_agents_say(helm: Helm, key: str):
    values = {"database": DATABASE, "defaults": PLACES, "imagePullSecrets": [{"name": "registry"}]}
    found = pods(helm.render(values))
    assert {name: pod.get(key) for name, pod in found.items()} == dict.fromkeys(found, found["rag"][key])
    assert set(ENDING) < found.keys()


def test_they_have_the_labels_and_annotations_that_a_cluster_may_ask_of_every_pod(helm4: Helm):
    wanted = {"podLabels": {"team": "platform"}, "podAnnotations": {"sidecar.istio.io/inject": "false"}}
    manifests = helm4.render({"database": DATABASE, "defaults": wanted})
    for manifest in _ending(manifests):
        told = manifest["metadata"]
        assert told["labels"]["team"] == "platform"
        assert told["annotations"]["sidecar.istio.io/inject"] == "false"
    (test,) = of_kind(manifests, "Pod").values()
    assert test["metadata"]["annotations"]["helm.sh/hook"] == "test"


SIDECARS = {"sidecar.istio.io/inject": "false", "linkerd.io/inject": "disabled"}


@pytest.mark.parametrize("meant", ["", "true"])
def test_no_service_mesh_keeps_the_job_from_ending_unless_it_is_asked_to_join(helm: Helm, meant: str):
    everywhere = {
        "podLabels": {"sidecar.istio.io/inject": "true", "team": "platform"},
        "podAnnotations": {"a": "b"},
    }
    own = {"podLabels": {"sidecar.istio.io/inject": meant}} if meant else {}
    manifests = helm.render({"database": {**DATABASE, **own}, "defaults": everywhere})
    told = _ending(manifests)[0]["metadata"]
    assert {name: told["annotations"][name] for name in SIDECARS} == SIDECARS
    assert told["annotations"]["a"] == "b"
    assert told["labels"]["sidecar.istio.io/inject"] == (meant or "false")
    assert told["labels"]["team"] == "platform"


def _ending(manifests: list[Manifest]) -> list[Manifest]:
    (job,), (test,) = of_kind(manifests, "Job").values(), of_kind(manifests, "Pod").values()
    return [job["spec"]["template"], test]


def test_their_resources_can_be_set(helm: Helm):
    usual = {"requests": {"cpu": "50m", "memory": "192Mi"}, "limits": {"cpu": "1", "memory": "512Mi"}}
    set_ = {"database": {**DATABASE, "resources": RESOURCES}, "test": {"resources": RESOURCES}}
    for values, wanted in (({"database": DATABASE}, usual), (set_, {**usual, **RESOURCES})):
        found = pods(helm.render(values))
        for name in ENDING:
            (container,) = found[name]["containers"]
            assert container["resources"]["requests"] == wanted["requests"]
            assert container["resources"]["limits"]["memory"] == wanted["limits"]["memory"]


def _environment(helm: Helm, folder: Path, name: str, **values: Any) -> dict[str, str]:
    cluster = Cluster.of(helm.render({"database": DATABASE, **values}), folder)
    cluster.secrets.update({"engineer-database": {}, "model-keys": {"HTTPS_PROXY": WITH_PASSWORD}})
    return cluster.pod(name).environment


@pytest.mark.parametrize("name", [*ENDING, "supervisor", "rag"])
def test_every_pod_goes_through_the_proxies_of_the_settings_and_past_them_to_the_release(
    helm4: Helm, tmp_path: Path, name: str
):
    settings = ACCEPTED["a company's proxy"]["settings"]
    told = _environment(helm4, tmp_path, name, settings={**settings, "SSL_CERT_FILE": "/etc/ssl/ca.crt"})
    assert (told["HTTP_PROXY"], told["HTTPS_PROXY"], told["SSL_CERT_FILE"]) == (
        PROXY,
        PROXY,
        "/etc/ssl/ca.crt",
    )
    release = "first-platform-engineer-"
    services = [f"{release}{each}" for each in ("supervisor.team.svc", "supervisor", "github", "rag")]
    assert told["NO_PROXY"] == ",".join([settings["NO_PROXY"], *services])


@pytest.mark.parametrize("secrets", [{"existing": "model-keys"}, {"values": {"HTTPS_PROXY": WITH_PASSWORD}}])
@pytest.mark.parametrize("name", [*ENDING, "rag"])
def test_a_proxy_that_wants_a_password_is_known_to_every_pod_from_the_secret(
    helm4: Helm, tmp_path: Path, name: str, secrets: dict[str, Any]
):
    assert _environment(helm4, tmp_path, name, secrets=secrets)["HTTPS_PROXY"] == WITH_PASSWORD


def test_they_get_no_other_secret_and_no_proxy_where_there_is_none(helm4: Helm, tmp_path: Path):
    secrets = {"values": {"OPENAI_API_KEY": "k"}}
    for name in ENDING:
        told = _environment(helm4, tmp_path, name, secrets=secrets)
        assert not {"OPENAI_API_KEY", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "SSL_CERT_FILE"} & told.keys()
        assert told["NO_PROXY"].startswith("first-platform-engineer-supervisor.team.svc,")
